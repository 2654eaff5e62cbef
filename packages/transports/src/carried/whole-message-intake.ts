import type { CodedError } from "@millrace/errors";
import type { Lease } from "@millrace/framing";
import type { MessageSpace } from "../assembly/message-space.ts";
import { lengthFault } from "./whole-messages.ts";

/** Where whole messages go and whom the intake tells. */
export interface WholeMessageIntakeOptions {
  readonly space: MessageSpace;
  /** Longest message, header and body, in bytes. */
  readonly messageLengthMax: number;
  /** Called once per message; the lease is released when it returns. */
  readonly onMessage: (messageLease: Lease) => void;
  readonly onReadEnd: () => void;
  /** There is no room for a message: stop reading until `onRoom`. */
  readonly onFull: () => void;
  readonly onRoom: () => void;
  /** The peer broke the framing: close without a reply. */
  readonly onFault: (error: CodedError) => void;
}

/**
 * The receiving side where the carrier itself keeps messages apart: checks each length against the header,
 * copies the message into a lease, and holds messages back while there is no room.
 *
 * Held back is what one read brought: the carrier stops reading at `onFull`.
 */
export class WholeMessageIntake {
  readonly #options: WholeMessageIntakeOptions;
  #messageLengthMax: number;
  readonly #heldBack: Uint8Array[] = [];
  #isClosed = false;

  constructor(options: WholeMessageIntakeOptions) {
    this.#options = options;
    this.#messageLengthMax = options.messageLengthMax;
  }

  /** Longest message now. */
  get messageLengthMax(): number {
    return this.#messageLengthMax;
  }

  /** Longest message from the next one on, in bytes; never more than the options say. */
  limit(messageLengthMax: number): void {
    this.#messageLengthMax = Math.min(messageLengthMax, this.#options.messageLengthMax);
  }

  /** Takes one message. Its bytes may be kept until they are handed over; nobody else writes them. */
  received(message: Uint8Array): void {
    if (this.#isClosed) return;
    const fault = lengthFault(message, this.#messageLengthMax);
    if (fault !== undefined) this.#options.onFault(fault);
    else if (this.#heldBack.length > 0 || !this.#handOver(message)) this.#holdBack(message);
  }

  /** Lets everything go; nothing is handed over any more. */
  close(): void {
    this.#isClosed = true;
    this.#heldBack.length = 0;
    this.#options.space.forget(this.#tryAgain);
  }

  /** Returns whether there was room. */
  #handOver(message: Uint8Array): boolean {
    const lease = this.#options.space.take(message.length);
    if (lease === undefined) return false;
    try {
      lease.bytes.set(message);
      this.#options.onMessage(lease);
    } finally {
      lease.release();
    }
    return true;
  }

  #holdBack(message: Uint8Array): void {
    this.#heldBack.push(message);
    if (this.#heldBack.length > 1) return;
    this.#options.onFull();
    this.#options.space.onAvailable(this.#tryAgain);
  }

  readonly #tryAgain = (): void => {
    let taken = 0;
    while (!this.#isClosed && taken < this.#heldBack.length && this.#handOver(this.#heldBack[taken]!))
      taken++;
    if (this.#isClosed) return;
    this.#heldBack.splice(0, taken);
    if (taken > 0) this.#options.onReadEnd();
    if (this.#isClosed) return;
    if (this.#heldBack.length === 0) this.#options.onRoom();
    else this.#options.space.onAvailable(this.#tryAgain);
  };
}
