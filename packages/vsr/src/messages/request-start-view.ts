/**
 * A replica that does not know the log of the current view: tell me, if you are its primary.
 * @see Viewstamped Replication Revisited, section 4.3, step 1. Departure: journals survive a restart, so the
 * answer of the primary is enough.
 */
export interface RequestStartView {
  readonly kind: "requestStartView";
  /** The highest view the sender knows. */
  readonly view: number;
  readonly replica: number;
  /** Differs between two starts of one replica, 1..2^48: an old answer is told from a new one by it. */
  readonly nonce: number;
  /** The sender lost its superblock: everybody answers with its viewNumber. */
  readonly wantsViews: boolean;
}
