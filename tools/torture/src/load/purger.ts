import type { MillraceClient } from "@millrace/client";
import type { ConsumerOffsetHistory } from "../oracle/consumer-offset-history.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import type { Job, Round } from "./actor.ts";
import type { BatchWriter } from "./batch-writer.ts";

const BATCHES_MAX = 12;

/**
 * Fills a topic, stores an offset, purges it, and again. Nothing else touches the topic, so every message
 * is known to be before or after a purge; only the last purge of a round can be unanswered.
 */
export class Purger implements Job {
  readonly name = "purger";
  readonly topic: TopicHistory;
  readonly offset: ConsumerOffsetHistory;
  readonly #stream: string;
  readonly #writer: BatchWriter;
  #isPurgeUnanswered = false;
  #purgesCount = 0;

  constructor(options: {
    stream: string;
    topic: TopicHistory;
    offset: ConsumerOffsetHistory;
    writer: BatchWriter;
  }) {
    this.#stream = options.stream;
    this.topic = options.topic;
    this.offset = options.offset;
    this.#writer = options.writer;
  }

  /** Purges acknowledged so far. */
  get purgesCount(): number {
    return this.#purgesCount;
  }

  /** True when the last purge may have happened or not. */
  get isPurgeUnanswered(): boolean {
    return this.#isPurgeUnanswered;
  }

  /** The offset this actor stores, in partition 0. */
  get offsetPlace() {
    return { stream: this.#stream, topic: this.topic.name, partitionId: 0, consumer: this.offset.name };
  }

  async work(client: MillraceClient, round: Round): Promise<void> {
    while (!round.isOver) {
      await this.#fill(client, round);
      if (round.isOver) return;
      await this.#storeOffset(client);
      this.#isPurgeUnanswered = true;
      await client.purgeTopic(this.#stream, this.topic.name);
      this.settlePurge(true);
      this.#purgesCount += 1;
      await this.#checkOffset(client);
    }
  }

  /** Notes whether the unanswered purge happened. */
  settlePurge(hasHappened: boolean): void {
    this.#isPurgeUnanswered = false;
    if (!hasHappened) return;
    this.topic.purge();
    this.offset.purge();
  }

  async #fill(client: MillraceClient, round: Round): Promise<void> {
    const batches = 1 + round.random.below(BATCHES_MAX);
    const sends = Array.from({ length: batches }, () => this.#writer.send(client, round).done);
    // Every send is settled before anything else happens, also when one of them fails.
    const failed = (await Promise.allSettled(sends)).find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async #storeOffset(client: MillraceClient): Promise<void> {
    const last = this.topic.partition(0).end - 1;
    if (last < 0) return;
    this.offset.attempt(last);
    await client.storeConsumerOffset({ ...this.offsetPlace, offset: BigInt(last) });
    this.offset.acknowledge(last);
  }

  /** A purge takes stored offsets with it. */
  async #checkOffset(client: MillraceClient): Promise<void> {
    const stored = await client.getConsumerOffset(this.offsetPlace);
    this.offset.see(stored === undefined ? undefined : Number(stored.storedOffset));
  }
}
