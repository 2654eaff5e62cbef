import type { ReplicaMessage } from "./messages/replica-message.ts";
import type { Prepare } from "./prepare.ts";

/**
 * The answer to an applied op. Every field is the same on each replica, so a repeated one is byte for byte
 * equal.
 */
export interface ReplyFields {
  readonly client: bigint;
  readonly request: bigint;
  readonly op: number;
  readonly view: number;
  readonly commit: number;
  readonly timestamp: number;
  readonly operation: number;
  readonly body: Uint8Array;
}

/** Which request an answer without an op belongs to. */
interface RequestName {
  readonly client: bigint;
  readonly request: bigint;
  readonly operation: number;
}

/**
 * Everything a replica can ask of its host, to be performed in the order given; no output waits for another.
 *
 * A `request` input is answered in its own step by `journal-write` (accepted), `reject`, `evict`, `replay` or
 * `drop`.
 */
export type Output =
  | { readonly kind: "send"; readonly to: number; readonly message: ReplicaMessage }
  | { readonly kind: "journal-write"; readonly prepare: Prepare }
  | { readonly kind: "persist-view"; readonly view: number; readonly logView: number }
  | { readonly kind: "apply"; readonly prepare: Prepare }
  /** `context` is the body token of the request. */
  | ({ readonly kind: "reply"; readonly context: unknown } & ReplyFields)
  /** The reply this very request got before. */
  | ({ readonly kind: "replay" } & ReplyFields)
  /** Refused by code, the session lives on: 57 outcome unknown, 58 not accepted, 59 already applied. */
  | ({ readonly kind: "reject"; readonly code: 57 | 58 | 59 } & RequestName)
  /** The session ends: 1 unknown, 7 fenced, 12 owned by another user. */
  | { readonly kind: "evict"; readonly client: bigint; readonly reason: number }
  /** No answer is due; the host lets go of the request. */
  | ({ readonly kind: "drop"; readonly reason: "session-unknown" | "checksum-differs" } & RequestName);
