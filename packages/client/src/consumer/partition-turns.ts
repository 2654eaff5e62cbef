import type { Clock } from "@millrace/platform";
import type { RefusedFacts } from "./consumer-events.ts";
import { isRefusal } from "./out-of-time.ts";

/**
 * Takes partitions in turn. One that the server refuses to have read rests as long as that took, so that it
 * costs the others half of the time at most.
 */
export class PartitionTurns {
  readonly #clock: Clock;
  readonly #onRefused: (facts: RefusedFacts) => void;
  readonly #restsUntilMs = new Map<number, number>();
  #turn = 0;

  /** @param onRefused  a partition was refused until a request for it ran out of time */
  constructor(clock: Clock, onRefused: (facts: RefusedFacts) => void) {
    this.#clock = clock;
    this.#onRefused = onRefused;
  }

  /** The next one that does not rest, the next of all when all do; undefined when there is none. */
  next<One extends { readonly partitionId: number }>(ones: readonly One[]): One | undefined {
    const nowMs = this.#clock.monotonicMs();
    let one: One | undefined;
    for (let tried = 0; tried <= ones.length; tried += 1) {
      one = ones[this.#turn % ones.length];
      this.#turn = (this.#turn + 1) % Math.max(1, ones.length);
      const restsUntilMs = one && this.#restsUntilMs.get(one.partitionId);
      if (restsUntilMs === undefined || restsUntilMs <= nowMs) break;
    }
    return one;
  }

  /** What `ask` gives; undefined when the server refused to tell: then the partition rests. */
  async unlessRefused<T>(partitionId: number, ask: () => Promise<T>): Promise<T | undefined> {
    const askedMs = this.#clock.monotonicMs();
    try {
      const answer = await ask();
      this.#restsUntilMs.delete(partitionId);
      return answer;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const nowMs = this.#clock.monotonicMs();
      this.#restsUntilMs.set(partitionId, nowMs + (nowMs - askedMs));
      this.#onRefused({ partitionId, error });
      return undefined;
    }
  }
}
