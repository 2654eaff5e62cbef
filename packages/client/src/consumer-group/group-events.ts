import type { ConsumerEventFacts } from "../consumer/consumer-events.ts";

/** What the member may read changed. */
export interface RebalancedFacts {
  readonly generation: number;
  readonly partitions: readonly number[];
}

/** Messages wait although nothing reads them. */
export interface StalledFacts {
  readonly partitionId: number;
  /** The group's stored offset, undefined when there is none. */
  readonly storedOffset: bigint | undefined;
  /** Highest readable offset of the partition. */
  readonly logEnd: bigint;
  /** Member that owns the partition, as `getConsumerGroup` numbers members; undefined when nobody does. */
  readonly owner: number | undefined;
  /** True when this consumer is the one that should read it. */
  readonly isOwn: boolean;
  /** How long the stored offset has not moved, milliseconds. */
  readonly waitedMs: number;
}

/** The partition was emptied and counts from 0 again: what the member knew of it means nothing any more. */
export interface RestartedFacts {
  readonly partitionId: number;
  /** Offset the member wanted to go on with. */
  readonly expectedOffset: bigint | undefined;
}

/** Events of a group consumer by name. */
export interface GroupEventFacts extends ConsumerEventFacts {
  readonly rebalanced: RebalancedFacts;
  readonly stalled: StalledFacts;
  readonly restarted: RestartedFacts;
}
