import type { PrepareHeader } from "../prepare-header.ts";

/**
 * To the primary of `view`: this is my log.
 *
 * Journals have no holes, so a log is told by its end: what is not among `headers` and lies above `commit`
 * the sender does not have. That is a nack, its word that it never acknowledged it, unless `mayHaveLost`.
 * @see Viewstamped Replication Revisited, section 4.2, step 2
 */
export interface DoViewChange {
  readonly kind: "doViewChange";
  readonly view: number;
  readonly replica: number;
  /** Last view whose log the sender held in full. */
  readonly logView: number;
  readonly op: number;
  readonly commit: number;
  /** Checksum of op `commit`, 0n for none. */
  readonly commitChecksum: bigint;
  /** Ops `commit + 1` to `op`, in order, at most 127. */
  readonly headers: readonly PrepareHeader[];
  /** The sender's journal may once have held more: it gives no nacks. */
  readonly mayHaveLost: boolean;
}
