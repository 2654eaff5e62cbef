/**
 * Primary to backup, now and then: everything up to `commit` is committed. The group's heartbeat.
 * @see Viewstamped Replication Revisited, section 4.1, step 6
 */
export interface CommitMessage {
  readonly kind: "commit";
  readonly view: number;
  readonly commit: number;
  /** Checksum of op `commit`, 0n for none: a log that differs there is a fork. */
  readonly commitChecksum: bigint;
}
