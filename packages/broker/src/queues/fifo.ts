/** Slots of a new queue: the requests of a client that sends a few at a time. */
const SLOTS_FIRST = 16;
/** Slots kept once the queue is empty; more were needed only by a burst. */
const SLOTS_KEPT_MAX = 1024;

/**
 * First in, first out: a ring that doubles when it is full, so no element moves when another leaves.
 *
 * Grows as needed: whoever fills it states the bound where it is checked.
 */
export class Fifo<T> {
  #slots: (T | undefined)[] = new Array(SLOTS_FIRST).fill(undefined);
  #head = 0;
  #count = 0;

  /** Elements waiting. */
  get count(): number {
    return this.#count;
  }

  push(item: T): void {
    if (this.#count === this.#slots.length) this.#grow();
    this.#slots[(this.#head + this.#count) & (this.#slots.length - 1)] = item;
    this.#count += 1;
  }

  /** The oldest element, left in place. */
  peek(): T | undefined {
    return this.#slots[this.#head];
  }

  /** The oldest element, taken out. */
  shift(): T | undefined {
    const item = this.#slots[this.#head];
    if (this.#count === 0) return undefined;
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#count -= 1;
    if (this.#count === 0 && this.#slots.length > SLOTS_KEPT_MAX) this.#renew(SLOTS_FIRST);
    return item;
  }

  /** Empties the queue and hands out what was in it, oldest first. */
  drain(): T[] {
    const left = this.#inOrder();
    this.#renew(SLOTS_FIRST);
    return left;
  }

  #inOrder(): T[] {
    const wrapped = [...this.#slots.slice(this.#head), ...this.#slots.slice(0, this.#head)];
    return wrapped.slice(0, this.#count) as T[];
  }

  #grow(): void {
    const items = this.#inOrder();
    this.#renew(items.length * 2);
    for (const item of items) this.push(item);
  }

  #renew(slots: number): void {
    this.#slots = new Array(slots).fill(undefined);
    this.#head = 0;
    this.#count = 0;
  }
}
