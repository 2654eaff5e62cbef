import type { Clock, Timer } from "@millrace/platform";
import { Fifo } from "./fifo.ts";

interface Waiting<T> {
  readonly item: T;
  readonly deadlineMs: number;
}

/**
 * What waits for room in a pipeline, first in, first out, each for a limited time.
 *
 * One timer serves the whole queue, since the oldest is always the next to be late.
 */
export class AdmissionQueue<T> {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #onLate: (item: T) => void;
  readonly #waiting = new Fifo<Waiting<T>>();
  #timer: Timer | undefined = undefined;

  /** @param onLate  takes an item that left the queue because it waited longer than `timeoutMs` */
  constructor(options: { clock: Clock; timeoutMs: number; onLate: (item: T) => void }) {
    this.#clock = options.clock;
    this.#timeoutMs = options.timeoutMs;
    this.#onLate = options.onLate;
  }

  get count(): number {
    return this.#waiting.count;
  }

  push(item: T): void {
    this.#waiting.push({ item, deadlineMs: this.#clock.monotonicMs() + this.#timeoutMs });
  }

  shift(): T | undefined {
    return this.#waiting.shift()?.item;
  }

  /** Takes out, oldest first, what `isWanted` names; the others keep their places and deadlines. */
  takeWhere(isWanted: (item: T) => boolean): T[] {
    const taken: T[] = [];
    for (const one of this.#waiting.drain()) {
      if (isWanted(one.item)) taken.push(one.item);
      else this.#waiting.push(one);
    }
    return taken;
  }

  /**
   * Starts the timer when something waits; call it once what can leave has left, so that most items need
   * none.
   */
  watch(): void {
    const oldest = this.#waiting.peek();
    if (oldest === undefined || this.#timer !== undefined) return;
    const delayMs = Math.max(0, oldest.deadlineMs - this.#clock.monotonicMs());
    this.#timer = this.#clock.setTimer(delayMs, () => {
      this.#timer = undefined;
      this.#dropLate();
      this.watch();
    });
  }

  /** Empties the queue and stops its timer. */
  drain(): T[] {
    this.#timer?.cancel();
    this.#timer = undefined;
    return this.#waiting.drain().map(({ item }) => item);
  }

  #dropLate(): void {
    const nowMs = this.#clock.monotonicMs();
    for (let oldest = this.#waiting.peek(); oldest !== undefined && oldest.deadlineMs <= nowMs; ) {
      this.#waiting.shift();
      this.#onLate(oldest.item);
      oldest = this.#waiting.peek();
    }
  }
}
