import { CodedError, ErrorCode } from "@millrace/errors";
import type { Clock } from "@millrace/platform";
import type { Name } from "../admin/stream-calls.ts";
import { checkedNumber } from "../client-options.ts";
import type { Scope } from "../client-platform.ts";
import type { PollStart } from "../messages/poll.ts";
import type { ReceivedMessage } from "../messages/received-message.ts";
import type { BatchSource } from "./batch-source.ts";
import type { ConsumerEventFacts, ConsumerEvents } from "./consumer-events.ts";
import { EndableSleep } from "./endable-sleep.ts";
import type { OffsetCommits } from "./offset-commits.ts";

/** When offsets are stored for the consumer. */
export type CommitMode = "after-handler" | "auto" | "manual";

/** Options of a consumer. */
export interface ConsumerOptions {
  readonly stream: Name;
  readonly topic: Name;
  /** Under which id or name offsets are stored. */
  readonly consumer: Name;
  /** One at least, each once. Default: all partitions, also those that appear later. */
  readonly partitions?: readonly number[];
  /** Default `"next"`: behind the stored offset. `"last"` begins with the newest message there is. */
  readonly startAt?: PollStart;
  /** Most messages of one poll. Default 1000. */
  readonly batchCountMax?: number;
  /** First wait when no partition had anything; it doubles up to 16 times that. Default 10. */
  readonly pollIntervalMs?: number;
  /**
   * `"after-handler"` (default): a message counts when its handler settled, or when the loop asks for the
   * next one. `"auto"`: the server stores with each poll, before a handler ran. `"manual"`: only `commit()`
   * does.
   */
  readonly commit?: CommitMode;
  /** Settled offsets are stored at most this often. Default 1000. */
  readonly commitIntervalMs?: number;
  /** Settled messages after which they are stored before that time. Default 1000. */
  readonly commitCount?: number;
  /** Stops the consumer; what was settled is still stored. */
  readonly signal?: AbortSignal;
}

/**
 * What happens when a handler fails: stop (default), go on and count the message as done, or try it again
 * first.
 */
export type OnHandlerError =
  | "stop"
  | "skip"
  | { readonly retry: { readonly attempts: number; readonly delayMs: number } };

/** What a consumer works with; a client hands it over. */
export interface ConsumerParts {
  readonly source: BatchSource;
  readonly commits: OffsetCommits;
  readonly events: Pick<ConsumerEvents<ConsumerEventFacts>, "on">;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly onClosed: () => void;
  /** Gives up what others wait for, once everything is stored; repeatable. */
  readonly release?: () => Promise<void>;
}

/** Works on one message; the next one waits for it, and for the promise that it gives, of whatever make. */
export type MessageHandler = (message: ReceivedMessage) => void | PromiseLike<void>;

/**
 * Reads messages, each partition in order, as an async iterator or with a handler. At least once: what was
 * not settled when the consumer stopped comes again next time.
 */
export class Consumer implements AsyncIterable<ReceivedMessage> {
  readonly #parts: ConsumerParts;
  readonly #mode: CommitMode;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.#stop();
  #isUsed = false;
  #batch: readonly ReceivedMessage[] = [];
  #index = 0;
  /** Handed out and not settled. */
  #delivered: ReceivedMessage | undefined;
  /** Mode "manual": the highest offset handed out of each partition and not committed. */
  readonly #handedOut = new Map<number, number>();
  #running: Promise<void> | undefined;
  /** The last `next()` that was asked for, and how many were not answered yet. */
  #lastNext: Promise<unknown> | undefined;
  #nextsOpen = 0;
  /** The wait before a handler is tried again. */
  #retryWait: EndableSleep | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: Pick<ConsumerOptions, "commit" | "signal">, parts: ConsumerParts) {
    this.#parts = parts;
    this.#mode = options.commit ?? "after-handler";
    this.#signal = options.signal;
    if (this.#signal?.aborted === true) this.#onAbort();
    this.#signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /**
   * Listens: `skipped` when messages behind the last one read, or behind the stored offset, are gone;
   * `refused` when the server has refused for `requestTimeoutMs` to have a partition read, as it does while
   * the partition has no leader. That is no error: it is asked for again, and the others are read meanwhile.
   * Returns the function that ends it.
   */
  on<EventName extends keyof ConsumerEventFacts>(
    event: EventName,
    listener: (facts: ConsumerEventFacts[EventName]) => void,
  ): () => void {
    return this.#parts.events.on(event, listener);
  }

  /**
   * Iterates once. Asking for the next message settles the one before; a message left by `break`, `return`
   * or an exception is not settled and comes again, unless `commit(message)` was called. Leaving the loop
   * closes the consumer. Who asks again before the answer gets the messages in the order of asking.
   *
   * @throws CodedError from the loop: what the server answers, Aborted, a commit that failed
   */
  [Symbol.asyncIterator](): AsyncIterator<ReceivedMessage, undefined> {
    this.#claim();
    return {
      next: () => this.#nextInTurn(),
      return: async () => {
        this.#delivered = undefined;
        await this.close();
        return { done: true, value: undefined };
      },
    };
  }

  /**
   * Calls the handler for every message until the consumer is closed.
   *
   * @throws what the handler threw, when `onError` is to stop (its message is not settled), and as the
   *         iterator
   */
  run(handler: MessageHandler, options: { readonly onError?: OnHandlerError } = {}): Promise<void> {
    const onError = options.onError ?? "stop";
    try {
      checkHandling(handler, onError);
      this.#claim();
    } catch (error) {
      return Promise.reject(error);
    }
    const running = this.#run(handler, onError);
    // `close()` waits for it and leaves the error to whoever called `run`.
    this.#running = running.catch(() => {});
    return running;
  }

  /**
   * Stores the offset of `message`, whether it is settled or not; without one, of everything settled so
   * far, which in mode `"manual"` is everything handed out. Resolves when it is stored; also when the
   * partition went to another member of the group meanwhile, to whom the message comes again.
   *
   * @throws CodedError of the server; RequestTimeout or OutcomeUnknown when no answer came in time, as during
   *         an outage: then the offset, named in the message and in `details`, is kept, the consumer goes
   *         on, and the next commit stores it
   */
  commit(message?: ReceivedMessage): Promise<void> {
    const { commits } = this.#parts;
    if (message !== undefined) {
      if (typeof message?.offsetNumber !== "number") return Promise.reject(notAMessage());
      commits.settle(message.partitionId, message.offsetNumber);
      if (message === this.#delivered) this.#delivered = undefined;
    } else if (this.#mode === "manual") {
      for (const [partitionId, offset] of this.#handedOut) commits.settle(partitionId, offset);
      this.#handedOut.clear();
    }
    return commits.flush();
  }

  /**
   * Stops polling, lets a running handler finish, and stores what is settled. Repeatable, and callable from
   * inside a handler, which is then not waited for: its message is stored after it settled.
   *
   * @throws CodedError when the offsets could not be stored: their messages come again next time
   */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = this.#close();
      this.#closing.catch(() => {});
    }
    return this.#closing;
  }

  /** Closes at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { scope } = this.#parts;
    this.#stop();
    if (this.#running !== undefined && !scope.isInside()) await this.#running;
    await this.#windUp();
  }

  /** Stores the rest, and gives up what others wait for whether that worked or not. */
  async #windUp(): Promise<void> {
    const { commits, release } = this.#parts;
    try {
      const [stored] = await Promise.allSettled([commits.finish()]);
      const [released] = await Promise.allSettled([release?.()]);
      if (stored.status === "rejected") throw stored.reason;
      if (released.status === "rejected") throw released.reason;
    } finally {
      this.#letGo();
    }
  }

  #stop(): void {
    this.#parts.source.stop();
    this.#retryWait?.end();
  }

  /** It is over: neither the signal nor the client needs to know the consumer any more. */
  #letGo(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#parts.onClosed();
  }

  #claim(): void {
    if (this.#isUsed) {
      throw new CodedError(
        ErrorCode.InvalidArgument,
        "A consumer is read once; make a new one to read again.",
      );
    }
    this.#isUsed = true;
  }

  /** One after another: a second look for messages beside the first would find the same ones. */
  #nextInTurn(): Promise<IteratorResult<ReceivedMessage, undefined>> {
    // A loop asks when it was answered: it must not pay for who does not.
    const before = this.#nextsOpen === 0 ? undefined : this.#lastNext;
    this.#nextsOpen += 1;
    const next = before === undefined ? this.#next() : this.#nextBehind(before);
    this.#lastNext = next;
    return next;
  }

  #nextBehind(before: Promise<unknown>): Promise<IteratorResult<ReceivedMessage, undefined>> {
    const go = () => this.#next();
    return before.then(go, go);
  }

  async #next(): Promise<IteratorResult<ReceivedMessage, undefined>> {
    try {
      try {
        this.#settleDelivered();
        if (this.#parts.source.isGivingUp) await this.#parts.commits.flushIfConnected();
        const message = this.#take() ?? ((await this.#fill()) ? this.#take() : undefined);
        if (message !== undefined) return { done: false, value: message };
      } catch (error) {
        this.#parts.source.stop();
        await this.close().catch(() => {});
        throw error;
      }
      await this.#finish();
      return { done: true, value: undefined };
    } finally {
      this.#nextsOpen -= 1;
    }
  }

  /** Stores the rest; the end by the signal is an error, the end by `close` is not. */
  async #finish(): Promise<void> {
    await this.#windUp();
    if (this.#signal?.aborted === true && this.#closing === undefined) {
      throw new CodedError(ErrorCode.Aborted, "The abort signal ended the consumer.");
    }
  }

  #take(): ReceivedMessage | undefined {
    const error = this.#parts.commits.takeError();
    if (error !== undefined) throw error;
    if (this.#parts.source.isStopped || this.#parts.source.isBatchLost) return undefined;
    const message = this.#batch[this.#index];
    if (message === undefined) return undefined;
    this.#index += 1;
    if (this.#mode === "after-handler") this.#delivered = message;
    if (this.#mode === "manual") this.#handedOut.set(message.partitionId, message.offsetNumber);
    return message;
  }

  /** False when there will be no more. */
  async #fill(): Promise<boolean> {
    const batch = await this.#parts.source.nextBatch();
    this.#batch = batch ?? [];
    this.#index = 0;
    return batch !== undefined;
  }

  #settleDelivered(): void {
    const delivered = this.#delivered;
    if (delivered === undefined) return;
    this.#delivered = undefined;
    this.#parts.commits.settle(delivered.partitionId, delivered.offsetNumber);
  }

  async #run(handler: MessageHandler, onError: OnHandlerError): Promise<void> {
    const { source, scope } = this.#parts;
    try {
      // Entered once a batch: entering costs several times what the rest of a message does.
      do await scope.run(() => this.#handleBatch(handler, onError));
      while (await this.#fill());
    } catch (error) {
      source.stop();
      this.#delivered = undefined;
      await this.#windUp().catch(() => {});
      throw error;
    }
    await this.#finish();
  }

  async #handleBatch(handler: MessageHandler, onError: OnHandlerError): Promise<void> {
    const { source, commits } = this.#parts;
    for (let message = this.#take(); message !== undefined; message = this.#take()) {
      const result = this.#handle(handler, message, onError);
      if (result !== undefined) await result;
      this.#settleDelivered();
      if (source.isGivingUp) await commits.flushIfConnected();
    }
  }

  /** Undefined when a synchronous handler is done, so that it costs no turn of the event loop. */
  #handle(
    handler: MessageHandler,
    message: ReceivedMessage,
    onError: OnHandlerError,
  ): Promise<void> | undefined {
    try {
      const result = handler(message);
      if (!isPromiseLike(result)) return undefined;
      return Promise.resolve(result).catch((error) => this.#onHandlerError(error, handler, message, onError));
    } catch (error) {
      return this.#onHandlerError(error, handler, message, onError);
    }
  }

  async #onHandlerError(
    error: unknown,
    handler: MessageHandler,
    message: ReceivedMessage,
    onError: OnHandlerError,
  ): Promise<void> {
    if (onError === "skip") return;
    if (onError === "stop") throw error;
    let lastError = error;
    for (let attempt = 0; attempt < onError.retry.attempts; attempt += 1) {
      if (this.#parts.source.isStopped) break;
      this.#retryWait = new EndableSleep(this.#parts.clock, onError.retry.delayMs);
      await this.#retryWait.over;
      if (this.#parts.source.isStopped) break;
      try {
        return await handler(message);
      } catch (failure) {
        lastError = failure;
      }
    }
    throw lastError;
  }
}

function notAMessage(): CodedError {
  return new CodedError(ErrorCode.InvalidArgument, "What is committed is a message of this consumer.");
}

/** What a program without types may hand over. @throws CodedError InvalidArgument */
function checkHandling(handler: MessageHandler, onError: OnHandlerError): void {
  if (typeof handler !== "function") {
    throw new CodedError(ErrorCode.InvalidArgument, "A handler is a function that takes a message.");
  }
  if (onError === "stop" || onError === "skip") return;
  const { attempts, delayMs } = onError?.retry ?? {};
  if (typeof attempts !== "number" || typeof delayMs !== "number") {
    const message = `onError is "stop", "skip" or { retry: { attempts, delayMs } }, two numbers.`;
    throw new CodedError(ErrorCode.InvalidArgument, message);
  }
  checkedNumber("onError.retry.attempts", attempts, { min: 0, isWhole: true });
  checkedNumber("onError.retry.delayMs", delayMs, { min: 0 });
}

/** True for whatever can be awaited: a builder of queries gives no promise of the language's own. */
function isPromiseLike(result: void | PromiseLike<void>): result is PromiseLike<void> {
  return typeof (result as PromiseLike<void> | undefined)?.then === "function";
}
