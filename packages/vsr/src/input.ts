import type { ClientTable } from "./client-table/client-table.ts";
import type { ReplicaMessage } from "./messages/replica-message.ts";
import type { Prepare, Request } from "./prepare.ts";

/**
 * Everything a replica can be told. Each is handled at once and in full; none is kept waiting.
 *
 * The body of a prepare that a message brings is either asked to be journaled in the same step or never
 * looked at again, so what holds it can be let go after the step.
 */
export type Input =
  /** 10 ms have passed. */
  | { readonly kind: "tick" }
  /** The host would rather have this replica lead the group; see `onLead`. */
  | { readonly kind: "lead" }
  /** The host would rather have replica `to` lead, should this one do so now; see `onYield`. */
  | { readonly kind: "yield"; readonly to: number }
  /** What the journal holds of committed ops is damaged: a peer's state is to replace it; see `onRefetch`. */
  | { readonly kind: "refetch" }
  | { readonly kind: "request"; readonly request: Request }
  /** A peer's message; `from` is the replica the host authenticated, not what the message claims. */
  | { readonly kind: "message"; readonly from: number; readonly message: ReplicaMessage }
  /** A `journal-write` is as durable as the group's policy asks. Any order. */
  | { readonly kind: "journal-written"; readonly op: number; readonly checksum: bigint }
  /**
   * Everything above `op` is durably gone. After this, no `journal-written` of a write that was asked for
   * before the `journal-truncate` comes any more.
   */
  | { readonly kind: "journal-truncated"; readonly op: number }
  /** Answer to the output `journal-read`; without a prepare: the journal starts after this op. */
  | {
      readonly kind: "journal-read";
      readonly op: number;
      readonly checksum: bigint;
      readonly to: number;
      readonly prepare: Prepare | undefined;
    }
  /** The superblock holds what a `persist-view` asked for. In the order in which they were asked for. */
  | { readonly kind: "view-persisted"; readonly view: number; readonly logView: number }
  /**
   * A state that reaches as far as `stateAwaited` is going to be put in place: `state-installed` or
   * `state-refused` follows, or the replica is stopped.
   */
  | { readonly kind: "state-replacing" }
  /**
   * The journal is as it was: the disk has no room for the state that was going to be put in place, or no
   * peer has a good one; see `onStateRefused`.
   */
  | { readonly kind: "state-refused" }
  /**
   * A state fetched from a peer is durably in place: op `op` is applied, the journal is empty and starts
   * after it. `op` is at least what `request-state` asked for. Groups with a client table bring it, as of
   * `op`.
   */
  | {
      readonly kind: "state-installed";
      readonly op: number;
      readonly checksum: bigint;
      readonly clientTable?: ClientTable;
    }
  /** An `apply` is done, with the body its client gets. Groups without a client table need not send it. */
  | { readonly kind: "applied"; readonly op: number; readonly reply: Uint8Array };
