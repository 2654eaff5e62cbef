/**
 * Answer to a requestPrepare: the op is committed here and no longer in the journal; the state is beyond it.
 * @see Viewstamped Replication Revisited, section 5.2
 */
export interface PrepareGone {
  readonly kind: "prepareGone";
  readonly view: number;
  readonly replica: number;
  readonly op: number;
}
