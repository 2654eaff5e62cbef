/**
 * Send me this op again. The answer is a prepare, or prepareGone.
 * @see Viewstamped Replication Revisited, section 5.2
 */
export interface RequestPrepare {
  readonly kind: "requestPrepare";
  readonly view: number;
  readonly replica: number;
  readonly op: number;
  /** 0n: the one that belongs to the log of `view`. Otherwise exactly this one, committed or not. */
  readonly prepareChecksum: bigint;
}
