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
  /** Cut everything above `op`; nothing is asked to be written before `journal-truncated`. */
  | { readonly kind: "journal-truncate"; readonly op: number }
  /**
   * The peer `to` asks for an op that is not in memory; `checksum` 0n takes whatever the journal has there.
   */
  | { readonly kind: "journal-read"; readonly op: number; readonly checksum: bigint; readonly to: number }
  /**
   * All three go into the superblock, durably, and come back as `Recovered` at the next start. View and log
   * view never go back: a host that has one with later ones in hand, asked for from inside an output, skips
   * this one.
   */
  | {
      readonly kind: "persist-view";
      readonly view: number;
      readonly logView: number;
      readonly mayHaveLost: boolean;
    }
  /**
   * Peers no longer hold the log after this replica's: fetch the state of `from`, at `op` or later. Repeated
   * now and then; a host that is fetching already goes on, or turns to `from` when the other one is gone.
   */
  | { readonly kind: "request-state"; readonly from: number; readonly op: number }
  | { readonly kind: "apply"; readonly prepare: Prepare }
  /** `context` is the body token of the request. */
  | ({ readonly kind: "reply"; readonly context: unknown } & ReplyFields)
  /** The reply this very request got before. */
  | ({ readonly kind: "replay" } & ReplyFields)
  /**
   * Refused by code, the session lives on: 57 outcome unknown, 58 not accepted, 59 already applied.
   * `context`, the request's body token, is there when the request was in flight and this replica ceased to
   * be primary: always 57, and the op may still be applied.
   */
  | ({ readonly kind: "reject"; readonly code: 57 | 58 | 59; readonly context?: unknown } & RequestName)
  /** The session ends: 1 unknown, 7 fenced, 12 owned by another user. */
  | { readonly kind: "evict"; readonly client: bigint; readonly reason: number }
  /** No answer is due; the host lets go of the request. */
  | ({ readonly kind: "drop"; readonly reason: "session-unknown" | "checksum-differs" } & RequestName);
