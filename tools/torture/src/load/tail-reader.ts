import { setTimeout as sleep } from "node:timers/promises";
import type { MillraceClient } from "@millrace/client";
import type { MessageContent } from "../content/message-content.ts";
import { PartitionRead } from "../oracle/partition-read.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import type { Job, Round } from "./actor.ts";

/** Messages a poll asks for; an odd number, so that polls begin and end inside batches. */
const POLL_COUNT = 257;
const IDLE_MS = 3;

/**
 * Follows the ends of all partitions while they are written: what it sees, acknowledged or not, is known to
 * a client and must never become anything else.
 */
export class TailReader implements Job {
  readonly name: string;
  readonly #stream: string;
  readonly #topics: readonly TopicHistory[];
  readonly #content: MessageContent;

  constructor(options: {
    name: string;
    stream: string;
    topics: readonly TopicHistory[];
    content: MessageContent;
  }) {
    this.name = options.name;
    this.#stream = options.stream;
    this.#topics = options.topics;
    this.#content = options.content;
  }

  async work(client: MillraceClient, round: Round): Promise<void> {
    const reads = this.#topics.flatMap((topic) =>
      topic.partitions.map((history) => ({
        topic,
        partitionId: history.partition,
        read: new PartitionRead(topic, history.partition, history.floor),
      })),
    );
    while (!round.isOver) {
      let count = 0;
      for (const one of reads) count += await this.#pollOnce(client, one);
      if (count === 0) await sleep(IDLE_MS);
    }
  }

  async #pollOnce(
    client: MillraceClient,
    { topic, partitionId, read }: { topic: TopicHistory; partitionId: number; read: PartitionRead },
  ): Promise<number> {
    const { messages } = await client.pollMessages({
      stream: this.#stream,
      topic: topic.name,
      partitionId,
      consumer: this.name,
      startAt: { offset: read.next },
      count: POLL_COUNT,
    });
    for (const message of messages) read.see(this.#content.judge(message));
    return messages.length;
  }
}
