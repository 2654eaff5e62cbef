/** A small seeded generator (xorshift, 32 bits): the only chance a replica has. */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Zero is the one state that never changes.
    this.#state = (seed ^ 0x9e3779b9) >>> 0 || 1;
    for (let turn = 0; turn < 8; turn += 1) this.#next();
  }

  /** A whole number below `bound`, which is at least 1 and at most 2^32. */
  below(bound: number): number {
    return this.#next() % bound;
  }

  /** Differs between two starts with different seeds, 1..2^48. */
  nonce(): number {
    return this.#next() * 0x10000 + (this.#next() >>> 16) + 1;
  }

  #next(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state;
  }
}
