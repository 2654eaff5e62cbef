import type { ReplicaMessage } from "./messages/replica-message.ts";
import type { Request } from "./prepare.ts";

/** Everything a replica can be told. Each is handled at once and in full; none is kept waiting. */
export type Input =
  | { readonly kind: "tick" }
  | { readonly kind: "request"; readonly request: Request }
  /** A peer's message; `from` is the replica the host authenticated, not what the message claims. */
  | { readonly kind: "message"; readonly from: number; readonly message: ReplicaMessage }
  /** A `journal-write` is as durable as the group's policy asks. Any order. */
  | { readonly kind: "journal-written"; readonly op: number; readonly checksum: bigint }
  | { readonly kind: "view-persisted"; readonly view: number; readonly logView: number }
  /** An `apply` is done, with the body its client gets. Groups without a client table need not send it. */
  | { readonly kind: "applied"; readonly op: number; readonly reply: Uint8Array };
