import type { PrepareHeader } from "../prepare-header.ts";

/**
 * The primary of `view`, once its own log is complete: this is the log of the view, it has begun.
 *
 * Also the answer to a requestStartView, then with its nonce.
 * @see Viewstamped Replication Revisited, section 4.2, step 4, and section 4.3, step 2
 */
export interface StartView {
  readonly kind: "startView";
  readonly view: number;
  readonly op: number;
  readonly commit: number;
  /** Checksum of op `commit`, 0n for none. */
  readonly commitChecksum: bigint;
  /** Ops `commit + 1` to `op`, in order, at most 127. */
  readonly headers: readonly PrepareHeader[];
  /** Of the request this answers; 0 when nobody asked. */
  readonly nonce: number;
}
