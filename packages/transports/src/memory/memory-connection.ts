import type { CodedError } from "@millrace/errors";
import type { Lease } from "@millrace/framing";
import { type Connection, TransportKind } from "@millrace/platform";
import { MessageIntake } from "../assembly/message-intake.ts";
import type { MessageSpace } from "../assembly/message-space.ts";
import { disconnected } from "../connection-lost.ts";

/** As on TCP: above this many queued bytes `send` answers false, at or below the lower mark it goes on. */
const HIGH_WATER_LENGTH = 1_048_576;
const LOW_WATER_LENGTH = 262_144;

/** What both ends of a pair are given. */
export interface MemoryConnectionOptions {
  readonly remoteAddress: string;
  readonly space: MessageSpace;
  readonly messageLengthMax: number;
  /** Runs a delivery later, in the order of the calls. */
  readonly schedule: (delivery: () => void) => void;
  /** How many of `length` bytes the next read brings: 1 to `length`. */
  readonly pieceLength: (length: number) => number;
  readonly onGone: () => void;
}

interface Sent {
  readonly parts: readonly Uint8Array[];
  readonly length: number;
  readonly onWritten: ((error?: CodedError) => void) | undefined;
}

/** One end of a pair in memory. Its bytes take the same way as on TCP, so the same checks meet them. */
export class MemoryConnection implements Connection {
  readonly transport = TransportKind.memory;
  readonly remoteAddress: string;
  onMessage: (messageLease: Lease) => void = () => {};
  onReadEnd: () => void = () => {};
  onDrain: () => void = () => {};
  onClose: (error?: CodedError) => void = () => {};
  readonly #options: MemoryConnectionOptions;
  readonly #intake: MessageIntake;
  readonly #sent: Sent[] = [];
  #peer!: MemoryConnection;
  #queuedLength = 0;
  #senderWaits = false;
  #deliveryPlanned = false;
  #pauses = 0;
  #state: "open" | "closing" | "closed" = "open";

  constructor(options: MemoryConnectionOptions) {
    this.#options = options;
    this.remoteAddress = options.remoteAddress;
    this.#intake = new MessageIntake({
      space: options.space,
      messageLengthMax: options.messageLengthMax,
      onMessage: (messageLease) => this.onMessage(messageLease),
      onReadEnd: () => this.onReadEnd(),
      onFull: () => this.pause(),
      onRoom: () => this.resume(),
      onFault: (error) => this.close(error),
    });
  }

  /** Makes two ends peers of each other. */
  static join(one: MemoryConnection, other: MemoryConnection): void {
    one.#peer = other;
    other.#peer = one;
  }

  send(parts: readonly Uint8Array[], onWritten?: (error?: CodedError) => void): boolean {
    if (this.#state !== "open") {
      if (onWritten !== undefined) this.#options.schedule(() => onWritten(disconnected()));
      return false;
    }
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    this.#sent.push({ parts: [...parts], length, onWritten });
    this.#queuedLength += length;
    this.#senderWaits ||= this.#queuedLength > HIGH_WATER_LENGTH;
    this.#planDelivery();
    return !this.#senderWaits;
  }

  pause(): void {
    this.#pauses++;
  }

  resume(): void {
    if (this.#pauses === 0) return;
    this.#pauses--;
    if (this.#pauses === 0) this.#peer.#planDelivery();
  }

  limitMessages(lengthMax: number): void {
    this.#intake.limit(lengthMax);
  }

  close(error?: CodedError): void {
    if (this.#state === "closed") return;
    if (error !== undefined) {
      this.#finish(error);
      this.#options.schedule(() => this.#peer.#finish(disconnected()));
    } else if (this.#state === "open") {
      this.#stopReading();
      this.#planDelivery();
    }
  }

  #planDelivery(): void {
    if (this.#deliveryPlanned || this.#state === "closed") return;
    this.#deliveryPlanned = true;
    this.#options.schedule(() => {
      this.#deliveryPlanned = false;
      if (this.#state !== "closed" && this.#peer.#pauses === 0) this.#deliver();
    });
  }

  /** Delivers the oldest send, or the end when nothing is left to deliver. */
  #deliver(): void {
    const sent = this.#sent.shift();
    if (sent === undefined) {
      this.#endIfClosing();
      return;
    }
    this.#peer.#receive(joined(sent));
    this.#queuedLength -= sent.length;
    sent.onWritten?.();
    this.#planDelivery();
    if (this.#state === "open") this.#tellDrained();
  }

  #tellDrained(): void {
    if (!this.#senderWaits || this.#queuedLength > LOW_WATER_LENGTH) return;
    this.#senderWaits = false;
    this.onDrain();
  }

  #receive(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      const end = at + this.#options.pieceLength(bytes.length - at);
      this.#intake.received(bytes.subarray(at, end));
      at = end;
    }
  }

  /** Our last byte is delivered: this end is done, and the peer closes its own once it has seen that. */
  #endIfClosing(): void {
    if (this.#state !== "closing") return;
    this.#options.schedule(() => this.#peer.close());
    this.#finish(undefined);
  }

  #stopReading(): void {
    this.#state = "closing";
    this.#intake.close();
    this.#pauses = 0;
    this.#peer.#planDelivery();
  }

  #finish(error: CodedError | undefined): void {
    if (this.#state === "closed") return;
    this.#stopReading();
    this.#state = "closed";
    const unsent = this.#sent.splice(0);
    for (const { onWritten } of unsent) onWritten?.(error ?? disconnected());
    this.#options.schedule(() => {
      this.onClose(error);
      this.#options.onGone();
    });
  }
}

function joined(sent: Sent): Uint8Array {
  const bytes = new Uint8Array(sent.length);
  let at = 0;
  for (const part of sent.parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
