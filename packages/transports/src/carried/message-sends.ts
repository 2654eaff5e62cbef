import type { CodedError } from "@millrace/errors";
import { disconnected } from "../connection-lost.ts";
import { wholeMessages } from "./whole-messages.ts";

/** Bytes queued on one connection above which `send` answers false; as on TCP. */
const HIGH_WATER_LENGTH = 1_048_576;
/** Queued bytes at which a sender that was told to wait may go on. */
const LOW_WATER_LENGTH = 262_144;

type Written = (error?: CodedError) => void;

interface Send {
  readonly parts: readonly Uint8Array[];
  readonly length: number;
  readonly onWritten: Written | undefined;
}

/** Hands whole messages to a carrier, in order; `done` is called once per call, also when it fails. */
export type WriteMessages = (messages: readonly Uint8Array[], done: (error?: unknown) => void) => void;

/**
 * Collects what is sent during one event, cuts it into whole messages and hands them to the carrier.
 * Every callback is called exactly once, in order; after `fail` with the error.
 */
export class MessageSends {
  /** Called when a sender that was told to wait may go on. */
  onDrain: () => void = () => {};
  readonly #write: WriteMessages;
  #collected: Send[] = [];
  readonly #flights: (readonly Send[])[] = [];
  #queuedLength = 0;
  #senderWaits = false;
  #isFlushPlanned = false;
  #failure: CodedError | undefined;

  constructor(write: WriteMessages) {
    this.#write = write;
  }

  send(parts: readonly Uint8Array[], onWritten: Written | undefined): boolean {
    if (this.#failure !== undefined) {
      const failure = this.#failure;
      if (onWritten !== undefined) queueMicrotask(() => onWritten(failure));
      return false;
    }
    let length = 0;
    for (const part of parts) length += part.length;
    this.#collected.push({ parts, length, onWritten });
    this.#queuedLength += length;
    this.#planFlush();
    this.#senderWaits ||= this.#queuedLength > HIGH_WATER_LENGTH;
    return !this.#senderWaits;
  }

  /** Flushes; what is sent from now on is refused with `error`. */
  finish(error: CodedError): void {
    this.#flush();
    this.#failure ??= error;
  }

  /** The connection is gone: every callback that is due gets the error, also those of later calls. */
  fail(error: CodedError): void {
    this.#failure = error;
    const due = [...this.#flights.flat(), ...this.#collected];
    this.#flights.length = 0;
    this.#collected = [];
    this.#queuedLength = 0;
    for (const { onWritten } of due) onWritten?.(error);
  }

  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    queueMicrotask(() => {
      this.#isFlushPlanned = false;
      if (this.#failure === undefined) this.#flush();
    });
  }

  #flush(): void {
    if (this.#collected.length === 0) return;
    const flight = this.#collected;
    this.#collected = [];
    this.#flights.push(flight);
    this.#write(
      flight.flatMap(({ parts }) => wholeMessages(parts)),
      (error) => this.#onFlightDone(flight, error),
    );
  }

  #onFlightDone(flight: readonly Send[], error: unknown): void {
    if (this.#flights[0] !== flight) return; // `fail` has answered for it already.
    this.#flights.shift();
    const failure = error === undefined || error === null ? undefined : disconnected(error);
    for (const { length, onWritten } of flight) {
      this.#queuedLength -= length;
      onWritten?.(failure);
    }
    if (this.#failure === undefined && failure === undefined) this.#tellDrained();
  }

  #tellDrained(): void {
    if (!this.#senderWaits || this.#queuedLength > LOW_WATER_LENGTH) return;
    this.#senderWaits = false;
    this.onDrain();
  }
}
