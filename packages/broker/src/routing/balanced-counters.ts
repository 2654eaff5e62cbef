import type { Topic } from "@millrace/metadata";
import { TOPICS_MAX } from "./pack-partition.ts";

interface Turn {
  readonly revision: number;
  readonly index: number;
}

/**
 * Round-robin over a topic's partitions for sends that leave the choice to the server.
 *
 * One counter per topic id, in memory only; a topic created anew under an id starts at its first partition
 * again.
 * @see wire-protocol section 10
 */
export class BalancedCounters {
  readonly #turns = new Map<number, Turn>();

  /** The index into the topic's partitions to use now; the topic has at least one. */
  next(topic: Topic): number {
    const key = topic.streamId * TOPICS_MAX + topic.id;
    const turn = this.#turns.get(key);
    const { revision } = topic;
    const index = turn?.revision === revision ? turn.index % topic.partitions.length : 0;
    this.#turns.set(key, { revision, index: (index + 1) % topic.partitions.length });
    return index;
  }
}
