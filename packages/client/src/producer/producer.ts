import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Clock, Timer } from "@millrace/platform";
import { type Identifier, type Partitioning, type SendConfirmation, toIdentifier } from "@millrace/protocol";
import type { Name } from "../admin/stream-calls.ts";
import { checkedNumber } from "../client-options.ts";
import { Lane } from "../connection/call.ts";
import type { BatchSender } from "../messages/batch-sender.ts";
import { type Message, type PreparedMessage, prepareMessage } from "../messages/message.ts";
import { type PartitionChoice, partitioningOf } from "../messages/partition-choice.ts";
import { type BatchLimits, OpenBatch } from "./open-batch.ts";
import type { PartitionRouter } from "./partition-router.ts";
import { type Ack, FlushEpoch, type Receipt, SendReceipt } from "./receipts.ts";

/** Options of a producer. */
export interface ProducerOptions {
  readonly stream: Name;
  readonly topic: Name;
  /**
   * Where messages without a key go. Default `"balanced"`: the server takes the partitions in turn, batch
   * by batch.
   */
  readonly partitioning?: PartitionChoice;
  /** Most messages in a batch. Default 1000. */
  readonly batchCountMax?: number;
  /** Most bytes in a batch. Default 1 MiB. */
  readonly batchLengthMax?: number;
  /** How long a message waits for company. Default 5; 0 sends what one event brought. */
  readonly lingerMs?: number;
  /**
   * Batches on the wire at once. Default 4. Above 1, a batch refused for a moment may end up behind a later
   * one.
   */
  readonly inFlightMax?: number;
  /** Bytes accepted and not acknowledged; beyond them `send` waits. Default 32 MiB. */
  readonly bufferLengthMax?: number;
}

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
  readonly length: number;
  readonly onAdmitted: (() => void) | undefined;
}

const BATCH_COUNT_MAX = 1000;
/** 1 MiB: fills one block of the send memory and is well past where batching still gains. */
const BATCH_LENGTH_MAX = 1_048_576;
/** 32 MiB: half the send memory, so that one producer leaves room for others. */
const BUFFER_LENGTH_MAX = 33_554_432;
/** As many as a connection may carry, see `ClientOptions.inFlightMax`. */
const IN_FLIGHT_LIMIT = 64;

/**
 * Sends messages in batches, several of them in flight, and resolves each send when its messages are written.
 *
 * Messages without a key keep the order of the calls; with keys, those of one key do. Order holds over a
 * reconnect: batches that were in flight go again, first, under their old numbers. A promise that nobody
 * awaits never becomes an unhandled rejection: the first error also comes out of `flush()` and `close()`.
 */
export class Producer {
  readonly #parts: ProducerParts;
  readonly #stream: Identifier;
  readonly #topic: Identifier;
  readonly #partitioning: Partitioning;
  readonly #limits: BatchLimits;
  readonly #lingerMs: number;
  readonly #inFlightMax: number;
  readonly #bufferLengthMax: number;
  readonly #lane = new Lane(Number.POSITIVE_INFINITY);
  /** Batches that still grow, by partition; -1 is the producer's own partitioning. */
  readonly #open = new Map<number, OpenBatch>();
  #ready: OpenBatch[] = [];
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
  /** Open batches need not wait any longer: they leave as soon as there is a place in flight. */
  #isOverdue = false;
  #lingerTimer: Timer | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ProducerOptions, parts: ProducerParts) {
    this.#parts = parts;
    this.#stream = toIdentifier(options.stream);
    this.#topic = toIdentifier(options.topic);
    this.#partitioning = partitioningOf(options.partitioning);
    const countMax = checkedNumber("batchCountMax", options.batchCountMax ?? BATCH_COUNT_MAX, { min: 1 });
    const lengthMax = checkedNumber("batchLengthMax", options.batchLengthMax ?? BATCH_LENGTH_MAX, { min: 1 });
    this.#limits = { countMax, lengthMax };
    this.#lingerMs = checkedNumber("lingerMs", options.lingerMs ?? 5, { min: 0 });
    const inFlight = { min: 1, max: IN_FLIGHT_LIMIT };
    this.#inFlightMax = checkedNumber("inFlightMax", options.inFlightMax ?? 4, inFlight);
    const bufferLengthMax = options.bufferLengthMax ?? BUFFER_LENGTH_MAX;
    this.#bufferLengthMax = checkedNumber("bufferLengthMax", bufferLengthMax, { min: 1 });
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
    if (this.#admissions.length > 0 || this.#bufferedLength >= this.#bufferLengthMax) return false;
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
    this.#admissions.push({ messages, receipt: receiptFor(messages.length), length, onAdmitted });
    this.#admit();
  }

  /** Lets waiting sends into the buffer, in order. A send longer than the buffer has it to itself. */
  #admit(): void {
    while (!this.#isLearning && this.#vanished.length === 0) {
      const next = this.#admissions[0];
      if (next === undefined) return;
      const isFull = this.#bufferedLength + next.length > this.#bufferLengthMax;
      if (isFull && this.#bufferedLength > 0) {
        this.#endLinger();
        return;
      }
      if (!next.messages.every((message) => this.#canRoute(message))) {
        this.#learnPartitions();
        return;
      }
      this.#admissions.shift();
      this.#bufferedLength += next.length;
      for (const message of next.messages) this.#addToBatch(message, next.receipt);
      next.onAdmitted?.();
      this.#pump();
      this.#startLinger();
    }
  }

  #keyOf(message: PreparedMessage): Uint8Array | undefined {
    return message.key ?? (this.#partitioning.kind === "key" ? this.#partitioning.key : undefined);
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

  #addToBatch(message: PreparedMessage, receipt: Receipt): void {
    const key = this.#keyOf(message);
    const partitionId = key === undefined ? -1 : (this.#parts.router.partitionOf(key) as number);
    let batch = this.#open.get(partitionId);
    if (batch !== undefined && !batch.hasRoomFor(message, this.#limits)) {
      this.#ready.push(batch);
      batch = undefined;
    }
    if (batch === undefined) {
      batch = new OpenBatch(partitionId < 0 ? this.#partitioning : { kind: "partition", partitionId });
      this.#open.set(partitionId, batch);
    }
    batch.add(message, receipt);
    if (batch.messages.length < this.#limits.countMax) return;
    this.#ready.push(batch);
    this.#open.delete(partitionId);
  }

  #startLinger(): void {
    if (this.#lingerTimer !== undefined || this.#isOverdue || this.#open.size === 0) return;
    this.#lingerTimer = this.#parts.clock.setTimer(this.#lingerMs, () => this.#endLinger());
  }

  #endLinger(): void {
    this.#lingerTimer?.cancel();
    this.#lingerTimer = undefined;
    this.#isOverdue = this.#open.size > 0;
    this.#pump();
  }

  /** The next batch to leave: full ones first, then what waited long enough. */
  #takeBatch(): OpenBatch | undefined {
    const full = this.#ready.shift();
    if (full !== undefined || !this.#isOverdue) return full;
    for (const [partitionId, batch] of this.#open) {
      this.#open.delete(partitionId);
      this.#isOverdue = this.#open.size > 0;
      return batch;
    }
    return undefined;
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#vanished.length === 0 && this.#inFlightCount < this.#inFlightMax) {
      const batch = this.#takeBatch();
      if (batch === undefined) break;
      this.#inFlightCount += 1;
      this.#parts.sender.send({
        stream: this.#stream,
        topic: this.#topic,
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
        this.#ready.unshift(...vanished.flatMap((batch) => this.#splitByPartition(batch)));
      } else for (const batch of vanished) this.#settle(batch, error);
      this.#admit();
      this.#pump();
    });
  }

  #splitByPartition(batch: OpenBatch): OpenBatch[] {
    const batches = new Map<number, OpenBatch>();
    for (const [message, receipt] of batch.entries()) {
      const partitionId = this.#parts.router.partitionOf(this.#keyOf(message) as Uint8Array) as number;
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
