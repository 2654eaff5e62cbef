import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Clock, Timer } from "@millrace/platform";
import { type FailedCommit, notStored } from "./not-stored.ts";
import { isOutOfTime } from "./out-of-time.ts";

/** How offsets are stored. */
export interface OffsetCommitsOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Settled messages after which a commit starts before its time. */
  readonly countMax: number;
  /** Stores one offset. */
  readonly store: (partitionId: number, offset: number) => Promise<void>;
  /** False while the client has no connection: then a failed commit is kept and tried again later. */
  readonly isConnected: () => boolean;
  /** True once the client has ended: then nothing is tried again. */
  readonly isEnded: () => boolean;
}

/**
 * Offsets of messages that are done with, stored in groups: after an interval, after a count, and on
 * demand. One group at a time is on its way, so an older offset never overtakes a newer one. Only the
 * highest offset of a partition is stored.
 */
export class OffsetCommits {
  readonly #options: OffsetCommitsOptions;
  readonly #settled = new Map<number, number>();
  /** Partitions of the group that is on its way, without those that were forgotten meanwhile. */
  readonly #sent = new Set<number>();
  #settledCount = 0;
  #timer: Timer | undefined;
  #running: Promise<CodedError | undefined> | undefined;
  #error: CodedError | undefined;
  /** Why the last one failed that may pass by itself; none since one was stored. */
  #passing: FailedCommit | undefined;
  #isFinishing = false;

  constructor(options: OffsetCommitsOptions) {
    this.#options = options;
  }

  /** Notes that a message is done with. */
  settle(partitionId: number, offset: number): void {
    this.#settled.set(partitionId, offset);
    this.#settledCount += 1;
    this.#goOn();
  }

  /**
   * Stores nothing of what was settled of a partition: its messages are gone. What is on its way is not tried
   * again, whatever becomes of it.
   */
  forget(partitionId: number): void {
    this.#settled.delete(partitionId);
    this.#sent.delete(partitionId);
  }

  /**
   * Stores what is settled of a partition without waiting for its time; with nothing new what was stored last
   * is stored again. Behind what is on its way: an older offset must not follow a newer one. Never rejects.
   *
   * @param lastStored  asked when it is the turn of this one
   */
  async commitAgain(partitionId: number, lastStored: () => number | undefined): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    const offset = lastStored();
    if (this.#settled.has(partitionId)) await this.#commit();
    // Anything but a refusal shows in the next commit, which waits for this one as for any other.
    else if (offset !== undefined) {
      await this.#run(() =>
        this.#options.store(partitionId, offset).then(
          () => undefined,
          () => undefined,
        ),
      );
    }
  }

  /** The error of a commit in the background, once; the offsets it was about are kept. */
  takeError(): CodedError | undefined {
    const error = this.#error;
    this.#error = undefined;
    return error;
  }

  /**
   * Stores everything settled so far and resolves when it is stored.
   *
   * @throws CodedError of the server or the connection, also one that may pass; the offsets are kept for the
   *         next try
   */
  async flush(): Promise<void> {
    const failure = await this.#flushed();
    const error = this.takeError() ?? failure;
    if (error !== undefined) throw error;
  }

  /**
   * As `flush`, but what cannot be stored for want of a connection is stored later, by itself.
   *
   * @throws CodedError that does not pass by itself
   */
  async flushIfConnected(): Promise<void> {
    await this.#flushed();
    const error = this.takeError();
    if (error !== undefined) throw error;
  }

  /** Never rejects. */
  async #flushed(): Promise<CodedError | undefined> {
    while (this.#running !== undefined) await this.#running;
    return this.#commit();
  }

  /**
   * Stores the rest, then stops its timer. A client that was closed or aborted already is no error: the
   * messages come again. Where a commit has waited for the lost connection in vain already, this one does not
   * wait as long once more. What went wrong in the background is not told: it is tried again here.
   *
   * @throws CodedError as `flush`
   */
  async finish(): Promise<void> {
    this.#isFinishing = true;
    try {
      while (this.#running !== undefined) await this.#running;
      this.#error = undefined;
      const isInVain = this.#settled.size > 0 && !this.#options.isConnected();
      if (this.#passing !== undefined && isInVain) throw notStored({ ...this.#passing, isKept: false });
      await this.flush();
    } catch (error) {
      const isOver = isCodedError(error, ErrorCode.ClientShutdown) || isCodedError(error, ErrorCode.Aborted);
      if (!isOver) throw error;
    } finally {
      this.#timer?.cancel();
      this.#timer = undefined;
    }
  }

  #startTimer(): void {
    this.#timer ??= this.#options.clock.setTimer(this.#options.intervalMs, () => void this.#commit());
  }

  /** Never rejects; gives why something could not be stored, also what `takeError` does not tell. */
  #commit(): Promise<CodedError | undefined> {
    return this.#run(() => this.#store());
  }

  /** Sends what `send` says, or waits for what is on its way already; the rest goes on then. */
  #run(send: () => Promise<CodedError | undefined>): Promise<CodedError | undefined> {
    this.#running ??= send().finally(() => {
      this.#running = undefined;
      this.#goOn();
    });
    return this.#running;
  }

  /** What was settled while a group was on its way has its own count and time. */
  #goOn(): void {
    if (this.#settledCount >= this.#options.countMax) void this.#commit();
    else if (this.#settledCount > 0) this.#startTimer();
  }

  async #store(): Promise<CodedError | undefined> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const offsets = [...this.#settled];
    for (const [partitionId] of offsets) this.#sent.add(partitionId);
    this.#settled.clear();
    this.#settledCount = 0;
    const storing = offsets.map(([partitionId, offset]) => this.#storeOne(partitionId, offset));
    return (await Promise.all(storing)).find((error) => error !== undefined);
  }

  /** Never rejects; gives why the offset could not be stored. */
  async #storeOne(partitionId: number, offset: number): Promise<CodedError | undefined> {
    try {
      await this.#options.store(partitionId, offset);
      this.#passing = undefined;
      return undefined;
    } catch (error) {
      // Beyond the end of the log although it was read: a purge took the message away. Or the consumer knows.
      if (isCodedError(error, ErrorCode.InvalidOffset) || !this.#sent.has(partitionId)) return undefined;
      if (!this.#settled.has(partitionId)) this.#settled.set(partitionId, offset);
      const isKept = !this.#isFinishing && !this.#options.isEnded();
      const failed = { partitionId, offset, error, isKept };
      const failure = notStored(failed);
      if (this.#mayPass(error)) {
        this.#passing = failed;
        this.#startTimer();
      } else this.#error ??= failure;
      return failure;
    } finally {
      this.#sent.delete(partitionId);
    }
  }

  /** A lost connection comes back, and a busy server gets to it, as long as the client lives. */
  #mayPass(error: unknown): boolean {
    const { isConnected, isEnded } = this.#options;
    return (
      !isEnded() && !isCodedError(error, ErrorCode.ClientShutdown) && (isOutOfTime(error) || !isConnected())
    );
  }
}
