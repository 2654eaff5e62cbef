import { Fifo } from "../../queues/fifo.ts";
import type { ClientConnection } from "../../sessions/client-connection.ts";

/** How much may be on its way to other nodes at once. */
export interface ForwardLimits {
  /** Operations and bytes above which a connection that brings one more is held. */
  readonly heldAboveCount: number;
  readonly heldAboveLength: number;
  /** Operations and bytes above which one more is refused; one alone may be of any length. */
  readonly countMax: number;
  readonly lengthMax: number;
}

/**
 * Operations on their way to other nodes. Beside the messages of consensus they may fill half of the queue to
 * a node; connections are held long before, so only many of them at once meet a refusal.
 */
export class ForwardWindow {
  readonly #limits: ForwardLimits;
  readonly #held = new Fifo<ClientConnection>();
  #count = 0;
  #length = 0;

  constructor(limits: ForwardLimits) {
    this.#limits = limits;
  }

  /** One more, of so many bytes, is on its way; false when there is no room for it. */
  begin(length: number, holder: ClientConnection | undefined): boolean {
    const { countMax, lengthMax } = this.#limits;
    if (this.#count >= countMax) return false;
    if (this.#count > 0 && this.#length + length > lengthMax) return false;
    this.#count += 1;
    this.#length += length;
    if (this.#isCrowded && holder !== undefined) {
      holder.hold();
      this.#held.push(holder);
    }
    return true;
  }

  /** One came to its end. */
  end(length: number): void {
    this.#count -= 1;
    this.#length -= length;
    while (!this.#isCrowded) {
      const holder = this.#held.shift();
      if (holder === undefined) return;
      holder.unhold();
    }
  }

  get #isCrowded(): boolean {
    const { heldAboveCount, heldAboveLength } = this.#limits;
    return this.#count > heldAboveCount || this.#length > heldAboveLength;
  }
}
