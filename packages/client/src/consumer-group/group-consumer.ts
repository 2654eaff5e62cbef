import type { Name } from "../admin/stream-calls.ts";
import { Consumer, type ConsumerOptions, type ConsumerParts } from "../consumer/consumer.ts";
import type { ConsumerEvents } from "../consumer/consumer-events.ts";
import type { GroupEventFacts } from "./group-events.ts";
import type { GroupSource } from "./group-source.ts";

/** Options of a group consumer; those it shares with a consumer mean the same. */
export interface GroupConsumerOptions extends Omit<ConsumerOptions, "consumer" | "partitions" | "startAt"> {
  /** The group, by id or name. */
  readonly group: Name;
  /** Creates the group when it does not exist; only for a group by name. Default true. */
  readonly createGroup?: boolean;
  /**
   * Where a partition begins for which the group has no stored offset: with the oldest message (default), or
   * with the newest there is.
   */
  readonly startAt?: "first" | "last";
  /**
   * How often the server is asked what this member may read, besides when an answer says so. Default 1000.
   */
  readonly syncIntervalMs?: number;
  /**
   * Messages that nobody reads for this long bring a `stalled` event. Default 35 000: what the server gives a
   * hand-over, and a little.
   */
  readonly stalledAfterMs?: number;
}

/** What a group consumer works with; a client hands it over. */
export interface GroupConsumerParts extends ConsumerParts {
  readonly source: GroupSource;
  readonly events: ConsumerEvents<GroupEventFacts>;
}

/**
 * A member of a consumer group: reads the partitions the group gives it, each in order, and shares the topic
 * with the other members.
 *
 * When a partition goes to another member, what was polled of it is handled and committed first; partitions
 * that stay are not disturbed. After a lost connection it joins again. Closing it leaves the group. At least
 * once: what was not committed comes again, here or elsewhere. One client is one member: a second consumer
 * of the same group needs a client of its own.
 */
export class GroupConsumer extends Consumer {
  readonly #parts: GroupConsumerParts;

  /** Use `MillraceClient.consumerGroup`. */
  constructor(options: GroupConsumerOptions, parts: GroupConsumerParts) {
    super(options, parts);
    this.#parts = parts;
  }

  /** Partitions this member may read now, as far as it knows. */
  get partitions(): readonly number[] {
    return this.#parts.source.partitions;
  }

  /**
   * Listens: `rebalanced` when this member got other partitions, `stalled` when nobody reads what is there,
   * `refused` when the server has refused for `requestTimeoutMs` to have a partition read, see `Consumer.on`,
   * `skipped` when messages behind the stored offset are gone, `restarted` when a partition was purged.
   * Returns the function that ends it.
   */
  override on<EventName extends keyof GroupEventFacts>(
    event: EventName,
    listener: (facts: GroupEventFacts[EventName]) => void,
  ): () => void {
    return this.#parts.events.on(event, listener);
  }
}
