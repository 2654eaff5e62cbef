import { setTimeout as sleep } from "node:timers/promises";
import type { MillraceClient } from "@millrace/client";
import type { PartitionHistory } from "../oracle/partition-history.ts";
import type { Job, Round } from "./actor.ts";

const PAUSE_MAX_MS = 250;
const SEGMENTS_MAX = 3;

/** Deletes the oldest segments of one partition now and then, while it is written. */
export class SegmentDeleter implements Job {
  readonly name = "segment-deleter";
  readonly #stream: string;
  readonly #partition: PartitionHistory;
  readonly #segmentLength: number;

  constructor(options: { stream: string; partition: PartitionHistory; segmentLength: number }) {
    this.#stream = options.stream;
    this.#partition = options.partition;
    this.#segmentLength = options.segmentLength;
  }

  async work(client: MillraceClient, round: Round): Promise<void> {
    const { topic, partition } = this.#partition;
    while (!round.isOver) {
      await sleep(round.random.below(PAUSE_MAX_MS));
      if (round.isOver) return;
      const count = 1 + round.random.below(SEGMENTS_MAX);
      this.#partition.allowTrim(count, this.#segmentLength);
      await client.deleteSegments(this.#stream, topic, partition, count);
    }
  }
}
