import { Fifo } from "../queues/fifo.ts";
import type { ClientConnection } from "../sessions/client-connection.ts";

/**
 * Appends of one partition on their way to its owner. Beyond the limit the connection that brings one more is
 * held, until as many have come back as went beyond before it.
 */
export class AppendWindow {
  readonly #countMax: number;
  readonly #held = new Fifo<ClientConnection>();
  #count = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** One more is on its way. */
  begin(holder: ClientConnection | undefined): void {
    this.#count += 1;
    if (this.#count <= this.#countMax || holder === undefined) return;
    holder.hold();
    this.#held.push(holder);
  }

  /** One came back. */
  end(): void {
    this.#count -= 1;
    if (this.#count <= this.#countMax) this.#held.shift()?.unhold();
  }
}
