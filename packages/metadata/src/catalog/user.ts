import type { Permissions } from "@millrace/protocol";
import type { Token } from "./token.ts";

/** Whether a user may log in. */
export const UserStatus = { active: 1, inactive: 2 } as const;

/** Id of the user that is created first, passes every check and cannot be deleted. */
export const ROOT_USER_ID = 0;

/** One user. A later op replaces the object, so look it up again rather than keep it. */
export interface User {
  readonly id: number;
  readonly name: string;
  readonly status: 1 | 2;
  /** Text form of the hash; the password itself never reaches the log. */
  readonly passwordHash: string;
  /** Absent for root, whose grants are implied, and for users who only serve themselves. */
  readonly permissions: Permissions | undefined;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
  /** Op that created the user: whoever gets a freed id is another one. */
  readonly revision: number;
  /** By the order in which they were created. */
  readonly tokens: readonly Token[];
}
