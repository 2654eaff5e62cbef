/** One partition as the catalog knows it; messages and offsets are the business of its own group. */
export interface Partition {
  readonly id: number;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
  /** Op that created it: a partition deleted and created again under its id is another one. */
  readonly revision: number;
}

/** What names one partition for all time, ids reused or not. */
export interface PartitionIdentity {
  readonly streamId: number;
  readonly topicId: number;
  readonly partitionId: number;
  readonly revision: number;
}
