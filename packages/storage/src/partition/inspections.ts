import { describeState, type StateDescription } from "../replication/describe-state.ts";
import { PrepareReader, type StoredPrepare } from "../replication/prepare-reader.ts";
import type { VerifyStep } from "../verification/tally.ts";
import { type VerifyRequest, type VerifySource, verifyStep } from "../verification/verify-step.ts";
import { partitionClosed } from "./partition-closed.ts";

/** Looks at what is journaled, besides the reads of messages; one at a time, the others wait for it. */
export class Inspections {
  readonly #source: VerifySource;
  readonly #prepares: PrepareReader;
  #isClosed = false;
  /** The one under way, or the last one. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(source: VerifySource) {
    this.#source = source;
    this.#prepares = new PrepareReader(source);
  }

  /** See `Partition.verify`. */
  verify(request: VerifyRequest): Promise<VerifyStep> {
    return this.#inspect(() => verifyStep(this.#source, request));
  }

  /** See `Partition.describeState`. */
  describeState(): Promise<StateDescription | undefined> {
    return this.#inspect(() => describeState(this.#source));
  }

  /** See `Partition.readPrepare`. */
  readPrepare(op: number): Promise<StoredPrepare | undefined> {
    return this.#inspect(() => this.#prepares.read(op));
  }

  /** Refuses what has not begun; settles when the one under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }

  #inspect<Result>(look: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(() => {
      if (this.#isClosed) throw partitionClosed();
      return look();
    });
    this.#last = result.catch(() => undefined);
    return result;
  }
}
