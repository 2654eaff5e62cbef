import { Tail } from "../tail-cache/tail.ts";
import type { TailCache } from "../tail-cache/tail-cache.ts";

/**
 * What the cache holds of one partition, by purge generation: between a purge and its commit there are two.
 */
export class Tails {
  readonly #cache: TailCache;
  readonly #byGeneration = new Map<number, Tail>();

  constructor(cache: TailCache) {
    this.#cache = cache;
  }

  /** The tail of a generation; an empty one when there is none yet. */
  of(generation: number): Tail {
    let tail = this.#byGeneration.get(generation);
    if (tail === undefined) {
      tail = new Tail();
      this.#byGeneration.set(generation, tail);
    }
    return tail;
  }

  /** Memory of generations before `generation` goes. */
  dropBefore(generation: number): void {
    for (const [older, tail] of this.#byGeneration) {
      if (older >= generation) continue;
      this.#cache.drop(tail);
      this.#byGeneration.delete(older);
    }
  }

  /** All of it goes. */
  dropAll(): void {
    this.dropBefore(Number.POSITIVE_INFINITY);
  }
}
