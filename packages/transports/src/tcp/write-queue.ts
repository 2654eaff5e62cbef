import type { Socket } from "node:net";
import type { CodedError } from "@millrace/errors";
import { disconnected } from "../connection-lost.ts";
import { joinSmallParts } from "./join-small-parts.ts";

/**
 * Bytes queued on one connection above which `send` answers false: a little more than the kernel's own buffer
 * takes, so a reader that keeps up never sees it and one that does not costs little.
 */
const HIGH_WATER_LENGTH = 1_048_576;

/** Queued bytes at which a sender that was told to wait may go on: room for a good write is there again. */
const LOW_WATER_LENGTH = 262_144;

type Written = (error?: CodedError) => void;

/** What one flush handed to the socket; its callbacks are due when the system has taken all of it. */
interface Flight {
  readonly length: number;
  readonly callbacks: readonly Written[];
}

/**
 * Collects what is sent during one event and hands it to the socket as one vectored write.
 * Every callback is called exactly once, in order; after `fail` with the error.
 */
export class WriteQueue {
  /** Called when a sender that was told to wait may go on. */
  onDrain: () => void = () => {};
  readonly #socket: Socket;
  #parts: Uint8Array[] = [];
  #callbacks: Written[] = [];
  readonly #flights: Flight[] = [];
  /** Bytes of `#parts`, and of those plus all flights. */
  #partsLength = 0;
  #queuedLength = 0;
  #senderWaits = false;
  #flushPlanned = false;
  #failure: CodedError | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Bytes lent to this queue. */
  get queuedLength(): number {
    return this.#queuedLength;
  }

  send(parts: readonly Uint8Array[], onWritten: Written | undefined): boolean {
    if (this.#failure !== undefined) {
      const failure = this.#failure;
      if (onWritten !== undefined) queueMicrotask(() => onWritten(failure));
      return false;
    }
    for (const part of parts) {
      if (part.length === 0) continue;
      this.#parts.push(part);
      this.#partsLength += part.length;
      this.#queuedLength += part.length;
    }
    if (onWritten !== undefined) this.#callbacks.push(onWritten);
    this.#planFlush();
    this.#senderWaits ||= this.#queuedLength > HIGH_WATER_LENGTH;
    return !this.#senderWaits;
  }

  /** Hands what was collected to the socket now. */
  flush(): void {
    if (this.#failure !== undefined || (this.#parts.length === 0 && this.#callbacks.length === 0)) return;
    const parts = joinSmallParts(this.#parts);
    this.#flights.push({ length: this.#partsLength, callbacks: this.#callbacks });
    this.#parts = [];
    this.#callbacks = [];
    this.#partsLength = 0;
    this.#write(parts);
  }

  /** Flushes; what is sent from now on is refused with `error`. */
  finish(error: CodedError): void {
    this.flush();
    this.#failure ??= error;
  }

  /** The connection is gone: every callback that is due gets the error, also those of later calls. */
  fail(error: CodedError): void {
    this.#failure = error;
    const callbacks = [...this.#flights.flatMap((flight) => flight.callbacks), ...this.#callbacks];
    this.#flights.length = 0;
    this.#parts = [];
    this.#callbacks = [];
    this.#queuedLength = 0;
    for (const callback of callbacks) callback(error);
  }

  #planFlush(): void {
    if (this.#flushPlanned) return;
    this.#flushPlanned = true;
    queueMicrotask(() => {
      this.#flushPlanned = false;
      this.flush();
    });
  }

  #write(parts: readonly Uint8Array[]): void {
    const last = parts.length - 1;
    if (last < 0) return void this.#socket.write("", this.#onFlightDone);
    if (last > 0) this.#socket.cork();
    for (let index = 0; index < last; index++) this.#socket.write(parts[index]!);
    this.#socket.write(parts[last]!, this.#onFlightDone);
    if (last > 0) this.#socket.uncork();
  }

  readonly #onFlightDone = (error?: Error | null): void => {
    const flight = this.#flights.shift();
    if (flight === undefined) return; // `fail` has answered for it already.
    this.#queuedLength -= flight.length;
    const failed = error !== undefined && error !== null;
    const failure = failed || this.#socket.destroyed ? disconnected(error) : undefined;
    for (const callback of flight.callbacks) callback(failure);
    if (this.#failure === undefined && failure === undefined) this.#tellDrained();
  };

  #tellDrained(): void {
    if (!this.#senderWaits || this.#queuedLength > LOW_WATER_LENGTH) return;
    this.#senderWaits = false;
    this.onDrain();
  }
}
