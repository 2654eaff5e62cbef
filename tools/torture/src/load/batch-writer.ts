import { setTimeout as sleep } from "node:timers/promises";
import type { MillraceClient, PartitionChoice } from "@millrace/client";
import type { SeededRandom } from "@millrace/testkit";
import type { MessageContent } from "../content/message-content.ts";
import type { SentBatches } from "../oracle/sent-batches.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import { asViolation, Violation } from "../oracle/violation.ts";
import { acceptLoss, isFullDisk, type Job, type Round } from "./actor.ts";

const BATCH_HEADER_LENGTH = 256;
const BATCH_COUNT_MAX = 1000;
/**
 * Bytes a writer sends a millisecond on average, so that a run of many rounds fits a disk: 2 MiB a second.
 */
const BYTES_PER_MS = 2048;
/** One batch in this many is followed by a burst without pauses. */
const BURST_EVERY = 12;
const BURST_LENGTH = 16;

/** What a writer does. */
export interface WriterOptions {
  readonly name: string;
  readonly stream: string;
  readonly topic: TopicHistory;
  readonly sent: SentBatches;
  readonly content: MessageContent;
  readonly inFlightMax: number;
  /** Where the next batch goes. */
  readonly choose: (random: SeededRandom) => PartitionChoice;
}

/** 1 to 1000 messages; small batches are as frequent as large ones on a logarithmic scale. */
function batchCount(random: SeededRandom): number {
  return Math.floor(BATCH_COUNT_MAX ** random.fraction() + random.fraction() / 2);
}

/**
 * Sends batches of all sizes with several in flight and tells the oracle what it learns. Never sends one
 * twice.
 */
export class BatchWriter implements Job {
  readonly #options: WriterOptions;
  readonly #partitionOfKey = new Map<string, number>();

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  async work(client: MillraceClient, round: Round): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    let burst = 0;
    while (!round.isOver) {
      if (inFlight.size >= this.#options.inFlightMax) await Promise.race(inFlight);
      const { length, done } = this.send(client, round);
      const settled = done.then(
        () => {},
        (error: unknown) => round.fail(asViolation(error)),
      );
      const task = settled.then(() => void inFlight.delete(task));
      inFlight.add(task);
      burst = burst > 0 ? burst - 1 : round.random.below(BURST_EVERY) === 0 ? BURST_LENGTH : 0;
      if (burst === 0) await sleep(length / BYTES_PER_MS);
    }
    await Promise.all(inFlight);
  }

  /**
   * Sends one batch of any size. `done` resolves when its outcome is noted, with whether it was acknowledged,
   * and rejects with a Violation.
   */
  send(client: MillraceClient, round: Round): { readonly length: number; readonly done: Promise<boolean> } {
    const { topic, sent, content, name } = this.#options;
    const count = Math.min(BATCH_COUNT_MAX, batchCount(round.random));
    const first = sent.nextNumber;
    const length = BATCH_HEADER_LENGTH + content.framesLength(first, count);
    const batch = topic.send({ writer: name, round: round.number, count, length });
    const partitioning = this.#options.choose(round.random);
    const request = {
      stream: this.#options.stream,
      topic: topic.name,
      partitioning,
      messages: content.messages(first, count),
    };
    const done = client.sendMessages(request).then(
      (confirmations) => {
        const [confirmation] = confirmations;
        if (confirmation === undefined || confirmations.length !== 1) {
          throw new Violation("answer", `${name}: ${confirmations.length} confirmations for one batch`);
        }
        topic.acknowledge(batch, confirmation.partitionId, Number(confirmation.baseOffset));
        this.#checkPlacing(partitioning, confirmation.partitionId);
        return true;
      },
      (error: unknown) => {
        if (isFullDisk(error, round)) topic.refuse(batch);
        else topic.loseAnswer(batch);
        acceptLoss(error, round, `${name}: a send`);
        return false;
      },
    );
    return { length, done };
  }

  /**
   * A chosen partition is the one that answers; one key leads to one partition as long as their number
   * stays.
   */
  #checkPlacing(choice: PartitionChoice, partitionId: number): void {
    if (choice === "balanced") return;
    const key = "key" in choice ? String(choice.key) : undefined;
    const expected =
      "partition" in choice ? choice.partition : (this.#partitionOfKey.get(key ?? "") ?? partitionId);
    if (key !== undefined) this.#partitionOfKey.set(key, partitionId);
    if (expected === partitionId) return;
    const what = key === undefined ? `partition ${expected}` : `key ${key}, in partition ${expected} before,`;
    throw new Violation("answer", `${this.name}: a batch for ${what} went to partition ${partitionId}`);
  }
}
