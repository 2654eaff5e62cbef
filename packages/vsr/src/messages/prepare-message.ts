import type { Prepare } from "../prepare.ts";

/**
 * Primary to backup: journal this op. Also the answer to a requestPrepare, then from any peer.
 * @see Viewstamped Replication Revisited, section 4.1, step 3
 */
export interface PrepareMessage {
  readonly kind: "prepare";
  /** Sender's current view; `prepare.view` may be older. */
  readonly view: number;
  readonly prepare: Prepare;
}
