import { CodedError, ErrorCode } from "@millrace/errors";
import type { Catalog } from "../catalog/catalog.ts";
import { ROOT_USER_ID, type User } from "../catalog/user.ts";
import { GRANTS, type Grants } from "./grants.table.ts";

/** Something a user may be allowed to do: a row of the table of grants. */
export type Action = keyof typeof GRANTS;

/** What it is done to; ids of what is not concerned stay away. */
export interface Scope {
  readonly stream?: number;
  readonly topic?: number;
}

const EVERYWHERE: Scope = {};

/**
 * True when one of the grants for `action` was given to the user, at any level that covers `scope`.
 *
 * Root passes everything; nobody (a user that was deleted) and a user without permissions pass nothing.
 * Allocates nothing: it is asked once per send and poll.
 */
export function may(user: User | undefined, action: Action, scope: Scope = EVERYWHERE): boolean {
  if (user === undefined) return false;
  if (user.id === ROOT_USER_ID) return true;
  const permissions = user.permissions;
  if (permissions === undefined) return false;
  const grants: Grants = GRANTS[action];
  if (hasAny(permissions.global, grants.global)) return true;
  if (scope.stream === undefined) return false;
  const stream = permissions.streams.get(scope.stream);
  if (stream === undefined) return false;
  if (hasAny(stream, grants.stream)) return true;
  if (scope.topic === undefined) return false;
  return hasAny(stream.topics.get(scope.topic), grants.topic);
}

/**
 * Checks a committed op's user.
 * @throws CodedError Unauthorized
 */
export function requireGrant(catalog: Catalog, userId: number, action: Action, scope?: Scope): void {
  if (may(catalog.users.byId(userId), action, scope)) return;
  throw new CodedError(ErrorCode.Unauthorized, `User ${userId} has no permission to ${action}.`, {
    details: { user: userId },
  });
}

function hasAny<Name extends string>(
  flags: Readonly<Record<Name, unknown>> | undefined,
  names: readonly Name[] | undefined,
): boolean {
  if (flags === undefined || names === undefined) return false;
  for (const name of names) if (flags[name] === true) return true;
  return false;
}
