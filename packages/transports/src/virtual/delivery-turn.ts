/**
 * Hands over at once what many sockets asked for in one turn of the event loop.
 *
 * Every socket that has bytes is read before `setImmediate` runs, so requests of all clients reach the broker
 * together and their writes share system calls.
 */
export class DeliveryTurn {
  #due: (() => void)[] = [];

  /** Runs `deliver` with the others of this turn, in the order of the calls. */
  add(deliver: () => void): void {
    this.#due.push(deliver);
    if (this.#due.length === 1) setImmediate(() => this.#run());
  }

  #run(): void {
    const due = this.#due;
    this.#due = [];
    for (const deliver of due) deliver();
  }
}
