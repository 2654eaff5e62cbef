/**
 * Primary to backup while no prepare is due: everything up to `commit` is committed.
 * @see Viewstamped Replication Revisited, section 4.1, step 6
 */
export interface CommitMessage {
  readonly kind: "commit";
  readonly view: number;
  readonly commit: number;
}
