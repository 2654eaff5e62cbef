import { setTimeout as sleep } from "node:timers/promises";
import type { MillraceClient } from "@millrace/client";
import type { ConsumerOffsetHistory } from "../oracle/consumer-offset-history.ts";
import type { PartitionHistory } from "../oracle/partition-history.ts";
import type { Job, Round } from "./actor.ts";

const IDLE_MS = 5;

/** One consumer of one partition that stores rising offsets, one after the other. */
export class OffsetStorer implements Job {
  readonly history: ConsumerOffsetHistory;
  readonly #stream: string;
  readonly #partition: PartitionHistory;
  #storesCount = 0;

  constructor(options: { stream: string; partition: PartitionHistory; history: ConsumerOffsetHistory }) {
    this.#stream = options.stream;
    this.#partition = options.partition;
    this.history = options.history;
  }

  get name(): string {
    return this.history.name;
  }

  /** Offsets acknowledged so far. */
  get storesCount(): number {
    return this.#storesCount;
  }

  /** Whose offset, and where. */
  get place() {
    const { topic, partition } = this.#partition;
    return { stream: this.#stream, topic, partitionId: partition, consumer: this.name };
  }

  async work(client: MillraceClient, round: Round): Promise<void> {
    while (!round.isOver) {
      const last = this.#partition.end - 1;
      const behind = last - this.history.attempted;
      if (behind <= 0) {
        await sleep(IDLE_MS);
        continue;
      }
      const step = 1 + round.random.below(Math.min(behind, 64));
      const offset = Math.min(last, this.history.attempted + step);
      this.history.attempt(offset);
      await client.storeConsumerOffset({ ...this.place, offset: BigInt(offset) });
      this.history.acknowledge(offset);
      this.#storesCount += 1;
    }
  }
}
