import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { type KeyHash, loadKeyHash } from "@millrace/framing";
import type { Clock } from "@millrace/platform";

/** A count older than this is asked for again beside the work, so that new partitions get their share. */
const REFRESH_MS = 30_000;

/** Asks the server how many partitions the topic has; undefined when it does not exist. */
export type AskPartitionsCount = () => Promise<number | undefined>;

/**
 * Finds the partition of a key: XXH32 of its bytes, seed 0, modulo the number of partitions, as the server
 * and the official Rust client compute it. The number is cached, and asked for again when a partition turns
 * out to be gone.
 */
export class PartitionRouter {
  readonly #ask: AskPartitionsCount;
  readonly #clock: Clock;
  #hash: KeyHash | undefined;
  #count = 0;
  #askedMs = 0;
  #running: Promise<CodedError | undefined> | undefined;

  constructor(ask: AskPartitionsCount, clock: Clock) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /** True once the number of partitions is known. */
  get isReady(): boolean {
    return this.#hash !== undefined && this.#count > 0;
  }

  /** The partition of a key, or undefined before the first `refresh` ended well. */
  partitionOf(key: Uint8Array): number | undefined {
    if (this.#hash === undefined || this.#count === 0) return undefined;
    if (this.#clock.monotonicMs() - this.#askedMs > REFRESH_MS) void this.refresh();
    return this.#hash(key) % this.#count;
  }

  /**
   * Asks for the number of partitions; several callers share one question. Never rejects, gives the error
   * instead.
   */
  refresh(): Promise<CodedError | undefined> {
    this.#running ??= this.#refresh().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #refresh(): Promise<CodedError | undefined> {
    try {
      this.#hash ??= await loadKeyHash();
      this.#askedMs = this.#clock.monotonicMs();
      const count = await this.#ask();
      if (count === undefined || count === 0) return noPartitions(count);
      this.#count = count;
      return undefined;
    } catch (error) {
      if (isCodedError(error)) return error;
      return new CodedError(ErrorCode.Error, "The partitions could not be counted.", { cause: error });
    }
  }
}

function noPartitions(count: number | undefined): CodedError {
  if (count === undefined) {
    return new CodedError(ErrorCode.ResourceNotFound, "The stream or topic to send to does not exist.");
  }
  return new CodedError(ErrorCode.NoPartitions, "The topic has no partitions; create some before sending.");
}
