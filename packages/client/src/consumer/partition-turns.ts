import type { Clock } from "@millrace/platform";
import type { RefusedFacts } from "./consumer-events.ts";
import { isRefusal } from "./out-of-time.ts";

/**
 * Takes partitions in turn. After one that the server refused to have read, none that was refused last is
 * asked for as long as that took, as long as there are others: all of them together cost these half of the
 * time at most.
 */
export class PartitionTurns {
  readonly #clock: Clock;
  readonly #onRefused: (facts: RefusedFacts) => void;
  /** Those that were refused when they were asked for last, the one of longest ago first. */
  readonly #refused = new Set<number>();
  #restsUntilMs = 0;
  #turn = 0;

  /** @param onRefused  a partition was refused until a request for it ran out of time */
  constructor(clock: Clock, onRefused: (facts: RefusedFacts) => void) {
    this.#clock = clock;
    this.#onRefused = onRefused;
  }

  /**
   * The one that was refused longest ago when they have rested; else the next of the others, or of all when
   * all were refused. Undefined when there is none.
   */
  next<One extends { readonly partitionId: number }>(ones: readonly One[]): One | undefined {
    const due = this.#clock.monotonicMs() < this.#restsUntilMs ? undefined : this.#longestRefused(ones);
    if (due !== undefined) return due;
    let one: One | undefined;
    for (let tried = 0; tried <= ones.length; tried += 1) {
      one = ones[this.#turn % ones.length];
      this.#turn = (this.#turn + 1) % Math.max(1, ones.length);
      if (one === undefined || !this.#refused.has(one.partitionId)) break;
    }
    return one;
  }

  #longestRefused<One extends { readonly partitionId: number }>(ones: readonly One[]): One | undefined {
    for (const partitionId of this.#refused) {
      const found = ones.find((one) => one.partitionId === partitionId);
      if (found !== undefined) return found;
      this.#refused.delete(partitionId);
    }
    return undefined;
  }

  /** What `ask` gives; undefined when the server refused to tell. */
  async unlessRefused<T>(partitionId: number, ask: () => Promise<T>): Promise<T | undefined> {
    const askedMs = this.#clock.monotonicMs();
    try {
      const answer = await ask();
      this.#refused.delete(partitionId);
      return answer;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const nowMs = this.#clock.monotonicMs();
      this.#refused.delete(partitionId);
      this.#refused.add(partitionId);
      this.#restsUntilMs = nowMs + (nowMs - askedMs);
      this.#onRefused({ partitionId, error });
      return undefined;
    }
  }
}
