/**
 * First in, first out, without moving elements on every `shift`.
 *
 * Grows as needed: whoever fills it states the bound where it is checked.
 */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  /** Elements waiting. */
  get count(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** The oldest element, left in place. */
  peek(): T | undefined {
    return this.#items[this.#head];
  }

  /** The oldest element, taken out. */
  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    this.#compact();
    return item;
  }

  /** Empties the queue and hands out what was in it, oldest first. */
  drain(): T[] {
    const left = this.#items.slice(this.#head) as T[];
    this.#items = [];
    this.#head = 0;
    return left;
  }

  /** Gives the dead half of the array back once it outweighs the living one. */
  #compact(): void {
    if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
    } else if (this.#head >= COMPACT_AT && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
  }
}

/** Dead slots worth a copy: below it the array is cheaper to keep than to cut. */
const COMPACT_AT = 64;
