import type { Log } from "@millrace/platform";
import type { PartitionIdentity, StoredOffset } from "@millrace/storage";
import { packPartition } from "../routing/pack-partition.ts";
import type { SegmentSum } from "./retention-plan.ts";

/** Segments of one partition that should go and stay, and for whom. */
export interface HeldBack extends SegmentSum {
  readonly identity: PartitionIdentity;
  /** Who has the lowest offset of all. */
  readonly holder: StoredOffset;
}

/**
 * What the latest pass of the cleaner had to keep, by partition. Says so in the log when somebody begins to
 * hold a partition back and when his offset has moved without releasing it, not with every pass.
 */
export class HeldSegments {
  readonly #log: Log;
  #held = new Map<number, HeldBack>();
  #next = new Map<number, HeldBack>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Segments held back over all partitions. */
  get segmentsCount(): number {
    let sum = 0;
    for (const { segmentsCount } of this.#held.values()) sum += segmentsCount;
    return sum;
  }

  /** Notes what the pass that is under way found. */
  note(held: HeldBack): void {
    const { identity, holder, segmentsCount, byteLength } = held;
    const { streamId, topicId, partitionId } = identity;
    const key = packPartition(streamId, topicId, partitionId);
    const before = this.#held.get(key)?.holder;
    this.#next.set(key, held);
    if (before !== undefined && isSame(before, holder)) return;
    const kind = holder.consumerKind === 2 ? "consumer-group" : "consumer";
    this.#log.warn("A stored offset keeps segments that are due to go.", {
      ...identity,
      segments: segmentsCount,
      bytes: byteLength,
      heldBy: `${kind} ${holder.id}`,
      storedOffset: holder.offset,
      release: `millrace consumer-offset delete ${holder.id} ${streamId} ${topicId} ${partitionId} --kind ${kind}`,
    });
  }

  /** A pass came to its end: what it did not find is not held any more. */
  passEnded(): void {
    this.#held = this.#next;
    this.#next = new Map();
  }
}

function isSame(a: StoredOffset, b: StoredOffset): boolean {
  return a.consumerKind === b.consumerKind && a.id === b.id && a.offset === b.offset;
}
