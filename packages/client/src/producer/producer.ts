import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Clock, Timer } from "@millrace/platform";
import type { SendConfirmation } from "@millrace/protocol";
import { Lane } from "../connection/call.ts";
import type { BatchSender } from "../messages/batch-sender.ts";
import { type Message, type PreparedMessage, prepareMessage } from "../messages/message.ts";
import { OpenBatch } from "./open-batch.ts";
import { OpenBatches } from "./open-batches.ts";
import type { PartitionRouter } from "./partition-router.ts";
import {
  type ProducerOptions,
  type ResolvedProducerOptions,
  resolveProducerOptions,
} from "./producer-options.ts";
import { type Ack, FlushEpoch, type Receipt, SendReceipt } from "./receipts.ts";

/** What a producer works with; a client hands it over. */
export interface ProducerParts {
  readonly sender: BatchSender;
  readonly router: PartitionRouter;
  readonly clock: Clock;
  readonly onClosed: () => void;
}

/** A send that waits for room, for the number of partitions, or for nothing any more. */
interface Admission {
  readonly messages: readonly PreparedMessage[];
  readonly receipt: Receipt;
  /** The flush that comes next when it was asked for: that one waits for it. */
  readonly epoch: FlushEpoch;
  readonly length: number;
  readonly onAdmitted: (() => void) | undefined;
}

/**
 * Sends messages in batches, several of them in flight, and resolves each send when its messages are written.
 *
 * Messages without a key keep the order of the calls; with keys, those of one key do. Order holds over a
 * reconnect: batches that were in flight go again, first, under their old numbers. A promise that nobody
 * awaits never becomes an unhandled rejection: the first error also comes out of `flush()` and `close()`.
 */
export class Producer {
  readonly #parts: ProducerParts;
  readonly #options: ResolvedProducerOptions;
  readonly #lane = new Lane(Number.POSITIVE_INFINITY);
  readonly #batches: OpenBatches;
  #admissions: Admission[] = [];
  #epoch = new FlushEpoch();
  /** Epochs that a flush ended and still waits for. */
  #endedEpochs: FlushEpoch[] = [];
  #onProgress: (() => void)[] = [];
  #bufferedLength = 0;
  #inFlightCount = 0;
  /** Keyed batches whose partition is gone; while there are any, nothing else leaves. */
  #vanished: OpenBatch[] = [];
  #isLearning = false;
  #isPumping = false;
  #lingerTimer: Timer | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ProducerOptions, parts: ProducerParts) {
    this.#parts = parts;
    this.#options = resolveProducerOptions(options);
    this.#batches = new OpenBatches(this.#options.partitioning, this.#options.limits);
  }

  /** Bytes accepted and not acknowledged yet. */
  get bufferedLength(): number {
    return this.#bufferedLength;
  }

  /**
   * Sends messages and resolves when they are written. While the buffer is full they wait outside it, in
   * order.
   *
   * @throws CodedError of a check on the client (4009, 4017, 4022, 4024, 4028 and others), ProducerClosed,
   *         the server's codes, OutcomeUnknown when nobody knows whether they were written
   */
  send(messages: Message | readonly Message[]): Promise<Ack> {
    const promise = new Promise<Ack>((resolve, reject) => {
      this.#accept(
        messages,
        (count) =>
          new SendReceipt(this.#epoch, count, (error, ack) => (error ? reject(error) : resolve(ack))),
      );
    });
    promise.catch(() => {});
    return promise;
  }

  /**
   * Takes messages and resolves as soon as there is room for them in the buffer; whether they were written
   * shows in `flush()` and `close()`, which reject with the first error.
   *
   * @throws CodedError as `send` for what is wrong with the messages themselves
   */
  enqueue(messages: Message | readonly Message[]): Promise<void> {
    return new Promise((resolve) => this.#accept(messages, () => this.#epoch, resolve));
  }

  /** Like `enqueue`, at once: false, and nothing taken, while the buffer is full. */
  tryEnqueue(messages: Message | readonly Message[]): boolean {
    if (this.#admissions.length > 0 || this.#bufferedLength >= this.#options.bufferLengthMax) return false;
    this.#accept(messages, () => this.#epoch);
    return true;
  }

  /**
   * Sends what waits and resolves when everything accepted so far is acknowledged.
   *
   * @throws CodedError the first error since the last flush, of whichever message
   */
  async flush(): Promise<void> {
    this.#endedEpochs.push(this.#epoch);
    this.#epoch = new FlushEpoch();
    const epochs = [...this.#endedEpochs];
    this.#endLinger();
    while (epochs.some((epoch) => epoch.openCount > 0)) {
      await new Promise<void>((resolve) => this.#onProgress.push(resolve));
    }
    this.#endedEpochs = this.#endedEpochs.filter((epoch) => !epochs.includes(epoch));
    const error = epochs.find((epoch) => epoch.firstError !== undefined)?.firstError;
    if (error !== undefined) throw error;
  }

  /**
   * Takes no more messages, finishes those it has, and then counts as closed. Later calls give the same
   * promise.
   */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = this.flush().finally(this.#parts.onClosed);
      this.#closing.catch(() => {});
    }
    return this.#closing;
  }

  /** Closes at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(
    input: Message | readonly Message[],
    receiptFor: (count: number) => Receipt,
    onAdmitted?: () => void,
  ): void {
    if (this.#closing !== undefined) {
      throw new CodedError(ErrorCode.ProducerClosed, "The producer is closed; make a new one.");
    }
    const nowMicros = this.#parts.clock.wallMicros();
    const messages = isList(input)
      ? input.map((message) => prepareMessage(message, nowMicros))
      : [prepareMessage(input, nowMicros)];
    if (messages.length === 0) {
      throw new CodedError(ErrorCode.InvalidMessagesCount, "Send at least one message.");
    }
    let length = 0;
    for (const message of messages) length += message.frameLength;
    this.#epoch.openCount += messages.length;
    const [receipt, epoch] = [receiptFor(messages.length), this.#epoch];
    this.#admissions.push({ messages, receipt, epoch, length, onAdmitted });
    this.#admit();
  }

  /** Lets waiting sends into the buffer; they wait for company there, unless a flush waits for them. */
  #admit(): void {
    if (this.#admitWaiting()) this.#endLinger();
    else this.#startLinger();
  }

  /** In order. A send longer than the buffer has it to itself. True when a flush waits for one of them. */
  #admitWaiting(): boolean {
    let isAwaited = false;
    while (!this.#isLearning && this.#vanished.length === 0) {
      const next = this.#admissions[0];
      if (next === undefined) break;
      const isFull = this.#bufferedLength + next.length > this.#options.bufferLengthMax;
      if (isFull && this.#bufferedLength > 0) {
        this.#endLinger();
        break;
      }
      if (!next.messages.every((message) => this.#canRoute(message))) {
        this.#learnPartitions();
        break;
      }
      this.#admissions.shift();
      this.#bufferedLength += next.length;
      for (const message of next.messages) {
        this.#batches.add(message, next.receipt, this.#partitionOf(message));
      }
      next.onAdmitted?.();
      isAwaited ||= next.epoch !== this.#epoch;
      this.#pump();
    }
    return isAwaited;
  }

  #keyOf(message: PreparedMessage): Uint8Array | undefined {
    const { partitioning } = this.#options;
    return message.key ?? (partitioning.kind === "key" ? partitioning.key : undefined);
  }

  #canRoute(message: PreparedMessage): boolean {
    return this.#keyOf(message) === undefined || this.#parts.router.isReady;
  }

  /** Asks once for the number of partitions; on failure the sends that need it fail, the others go on. */
  #learnPartitions(): void {
    this.#isLearning = true;
    void this.#parts.router.refresh().then((error) => {
      this.#isLearning = false;
      if (error !== undefined) {
        const failed = this.#admissions.shift();
        failed?.receipt.fail({ count: failed.messages.length }, error);
        failed?.onAdmitted?.();
        this.#noteProgress();
      }
      this.#admit();
    });
  }

  #partitionOf(message: PreparedMessage): number | undefined {
    const key = this.#keyOf(message);
    return key === undefined ? undefined : (this.#parts.router.partitionOf(key) as number);
  }

  #startLinger(): void {
    if (this.#lingerTimer !== undefined || !this.#batches.isWaiting) return;
    this.#lingerTimer = this.#parts.clock.setTimer(this.#options.lingerMs, () => this.#endLinger());
  }

  #endLinger(): void {
    this.#lingerTimer?.cancel();
    this.#lingerTimer = undefined;
    this.#batches.endWaiting();
    this.#pump();
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    const { stream, topic, inFlightMax } = this.#options;
    while (this.#vanished.length === 0 && this.#inFlightCount < inFlightMax) {
      const batch = this.#batches.take();
      if (batch === undefined) break;
      this.#inFlightCount += 1;
      this.#parts.sender.send({
        stream,
        topic,
        partitioning: batch.partitioning,
        messages: batch.messages,
        lane: this.#lane,
        done: (error, confirmations) => this.#onAnswer(batch, error, confirmations[0]),
      });
    }
    this.#isPumping = false;
  }

  #onAnswer(
    batch: OpenBatch,
    error: CodedError | undefined,
    confirmation: SendConfirmation | undefined,
  ): void {
    this.#inFlightCount -= 1;
    const isGone = isCodedError(error, ErrorCode.ResourceNotFound) && !batch.isRerouted;
    if (isGone && batch.messages.some((message) => this.#keyOf(message) !== undefined)) {
      this.#vanished.push(batch);
    } else this.#settle(batch, error, confirmation);
    // All that is in flight answers first: then the order of what goes again is known.
    if (this.#vanished.length > 0 && this.#inFlightCount === 0) this.#reroute();
    this.#admit();
    this.#pump();
  }

  #settle(batch: OpenBatch, error: CodedError | undefined, confirmation?: SendConfirmation): void {
    this.#bufferedLength -= batch.framesLength;
    batch.settle(error, confirmation);
    this.#noteProgress();
  }

  /** Partitions of keyed batches are gone: counts anew and sends their messages where the keys lead now. */
  #reroute(): void {
    void this.#parts.router.refresh().then((error) => {
      const vanished = this.#vanished;
      this.#vanished = [];
      if (error === undefined) {
        this.#batches.putFirst(vanished.flatMap((batch) => this.#splitByPartition(batch)));
      } else for (const batch of vanished) this.#settle(batch, error);
      this.#admit();
      this.#pump();
    });
  }

  #splitByPartition(batch: OpenBatch): OpenBatch[] {
    const batches = new Map<number, OpenBatch>();
    for (const [message, receipt] of batch.entries()) {
      const partitionId = this.#partitionOf(message) as number;
      const target = batches.get(partitionId) ?? new OpenBatch({ kind: "partition", partitionId }, true);
      batches.set(partitionId, target);
      target.add(message, receipt);
    }
    return [...batches.values()];
  }

  #noteProgress(): void {
    const waiting = this.#onProgress;
    this.#onProgress = [];
    for (const resume of waiting) resume();
  }
}

function isList(input: Message | readonly Message[]): input is readonly Message[] {
  return Array.isArray(input);
}
