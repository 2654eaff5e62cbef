/** Callbacks that wait for something to happen; each is called once. */
export class Waiters {
  #waiting: (() => void)[] = [];

  add(callback: () => void): void {
    this.#waiting.push(callback);
  }

  /** Settles when it has happened. */
  settled(): Promise<void> {
    return new Promise((resolve) => this.add(resolve));
  }

  /** It has happened: calls everyone who waits, in the order in which they came. */
  tell(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const callback of waiting) callback();
  }
}
