import { setTimeout as sleep } from "node:timers/promises";
import { ErrorCode } from "@millrace/errors";
import { decodeSendMessagesReply } from "@millrace/protocol";
import type { MessageContent } from "../content/message-content.ts";
import type { SentBatch, SentBatches } from "../oracle/sent-batches.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import { Violation } from "../oracle/violation.ts";
import { type PartitionPlace, sendBody } from "./batch-request.ts";
import type { NodeAnswer } from "./node-connection.ts";
import { WanderingClient, type WanderingClientOptions } from "./wandering-client.ts";

const BATCH_COUNT_MAX = 20;
/** Longest pause between two batches. */
const PAUSE_MAX_MS = 20;
/** Before a request goes to the next node. */
const NEXT_NODE_MS = 30;

/** Answers after which a request is sent again under its number, to another node. */
const TRY_ANOTHER: ReadonlySet<number> = new Set([
  ErrorCode.TransientNotCommitted,
  ErrorCode.TransientNotAccepted,
]);

/** What a writer needs. */
export interface ClusterWriterOptions extends WanderingClientOptions {
  readonly name: string;
  /** Partitions that it writes to in turn, all of one topic. */
  readonly places: readonly PartitionPlace[];
  readonly topic: TopicHistory;
  readonly sent: SentBatches;
  readonly content: MessageContent;
}

/**
 * Writes batch after batch to its partitions in turn. A batch whose outcome is open goes to node after node
 * with the same client id, number and content until one acknowledges it: it has to be there once.
 */
export class ClusterWriter {
  readonly #options: ClusterWriterOptions;
  readonly #wandering: WanderingClient;
  #number = 0n;
  #isStopWanted = false;
  #acknowledged = 0;
  #turn = 0;
  /** Acknowledged as repetitions, without a place. */
  readonly unplaced: SentBatch[] = [];
  #round = 0;

  constructor(options: ClusterWriterOptions) {
    this.#options = options;
    this.#wandering = new WanderingClient(options);
  }

  get name(): string {
    return this.#options.name;
  }

  /** Batches acknowledged so far. */
  get acknowledgedCount(): number {
    return this.#acknowledged;
  }

  /** The node that acknowledged last, or is tried now. */
  get node(): number {
    return this.#wandering.node;
  }

  /** Batches after which each of its partitions has taken one. */
  get turnLength(): number {
    return this.#options.places.length;
  }

  /** Tells which round batches belong to from now on. */
  beginRound(round: number): void {
    this.#round = round;
  }

  /** Ends `work` behind the batch that is under way. */
  stop(): void {
    this.#isStopWanted = true;
  }

  /** Writes until `stop`. Throws Violation. */
  async work(): Promise<void> {
    const { topic, sent, content, random, name } = this.#options;
    while (!this.#isStopWanted) {
      const count = 1 + random.below(BATCH_COUNT_MAX);
      const length = content.framesLength(sent.nextNumber, count);
      await this.#deliver(topic.send({ writer: name, round: this.#round, count, length }));
      await sleep(random.below(PAUSE_MAX_MS));
    }
    this.#wandering.close();
  }

  async #deliver(batch: SentBatch): Promise<void> {
    const { content, places } = this.#options;
    const place = places[this.#turn++ % places.length] as PartitionPlace;
    const body = sendBody(content, place, { first: batch.firstNumber, count: batch.count });
    this.#number += 1n;
    for (;;) {
      const connection = await this.#wandering.connected();
      const answer = await connection.command("SendMessages", body, this.#number);
      if (answer?.code === 0) return this.#acknowledge(batch, answer);
      if (answer !== undefined && !TRY_ANOTHER.has(answer.code)) {
        throw new Violation("answer", `${this.name}: a send was answered with ${answer.code}`);
      }
      this.#wandering.toNextNode();
      await sleep(NEXT_NODE_MS);
    }
  }

  #acknowledge(batch: SentBatch, { payload }: NodeAnswer): void {
    const { topic } = this.#options;
    this.#acknowledged += 1;
    const [confirmation] = decodeSendMessagesReply(payload);
    if (confirmation === undefined) this.unplaced.push(batch);
    else topic.acknowledge(batch, confirmation.partitionId, confirmation.baseOffset);
  }
}
