/**
 * Replica to primary: the op is in my journal.
 * @see Viewstamped Replication Revisited, section 4.1, step 4
 */
export interface PrepareOk {
  readonly kind: "prepareOk";
  readonly view: number;
  readonly op: number;
  /** Checksum of the prepare that was journaled: two prepares of one op are told apart by it. */
  readonly prepareChecksum: bigint;
  readonly replica: number;
}
