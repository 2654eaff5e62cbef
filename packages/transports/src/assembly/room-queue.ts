import type { LeaseSource } from "@millrace/framing";

/**
 * Who waits for room in one lease source. Lease sources cannot forget a waiter, so this registers once for
 * all of its own and lets those go that closed meanwhile: the queue is never longer than the connections that
 * are open.
 */
export class RoomQueue {
  readonly #leases: LeaseSource;
  readonly #waiting = new Set<() => void>();
  #registered = false;

  constructor(leases: LeaseSource) {
    this.#leases = leases;
  }

  /** Callbacks that wait now. */
  get length(): number {
    return this.#waiting.size;
  }

  /**
   * Calls back once when there may be room; the callback tries, and waits again when it still does not fit.
   */
  add(callback: () => void): void {
    this.#waiting.add(callback);
    if (this.#registered) return;
    this.#registered = true;
    this.#leases.onAvailable(this.#wake);
  }

  /** The callback waits no longer. */
  remove(callback: () => void): void {
    this.#waiting.delete(callback);
  }

  readonly #wake = (): void => {
    this.#registered = false;
    const round = [...this.#waiting];
    for (const callback of round) {
      if (this.#waiting.delete(callback)) callback();
    }
  };
}
