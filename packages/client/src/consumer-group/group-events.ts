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

/** Messages behind the stored offset are not there any more: retention or a purge took them. */
export interface SkippedFacts {
  readonly partitionId: number;
  readonly expectedOffset: bigint;
  readonly foundOffset: bigint;
  readonly count: bigint;
}

/** The partition was emptied and counts from 0 again: what the member knew of it means nothing any more. */
export interface RestartedFacts {
  readonly partitionId: number;
  /** Offset the member wanted to go on with. */
  readonly expectedOffset: bigint | undefined;
}

/** Events of a group consumer by name. */
export interface GroupEventFacts {
  readonly rebalanced: RebalancedFacts;
  readonly stalled: StalledFacts;
  readonly skipped: SkippedFacts;
  readonly restarted: RestartedFacts;
}

type Listener = (facts: never) => void;

/** Listeners of one group consumer. One that throws surfaces as an uncaught exception of its own. */
export class GroupEvents {
  readonly #listeners = new Map<keyof GroupEventFacts, Set<Listener>>();

  /** Adds a listener and returns the function that removes it. */
  on<Name extends keyof GroupEventFacts>(
    name: Name,
    listener: (facts: GroupEventFacts[Name]) => void,
  ): () => void {
    const listeners = this.#listeners.get(name) ?? new Set<Listener>();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  emit<Name extends keyof GroupEventFacts>(name: Name, facts: GroupEventFacts[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        listener(facts as never);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
