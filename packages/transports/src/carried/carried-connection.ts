import type { CodedError } from "@millrace/errors";
import type { Lease } from "@millrace/framing";
import type { Connection, TransportKind } from "@millrace/platform";
import type { MessageSpace } from "../assembly/message-space.ts";
import { disconnected } from "../connection-lost.ts";
import { MessageSends } from "./message-sends.ts";
import { WholeMessageIntake } from "./whole-message-intake.ts";

/** How long a peer may take to take our last messages and close its side after we closed ours. */
const CLOSE_GRACE_MS = 5000;

/** What carries whole messages for a connection: a WebSocket, a gRPC stream. */
export interface MessageCarrier {
  /** Sends the messages in order; `done` is called once, when the carrier needs their bytes no longer. */
  write(messages: readonly Uint8Array[], done: (error?: unknown) => void): void;
  pause(): void;
  resume(): void;
  /** Closes in order, after what was written. */
  end(): void;
  /** Closes at once; tells the peer why where the carrier can. */
  abort(error: CodedError): void;
}

/** What a carried connection needs besides its carrier. */
export interface CarriedConnectionOptions {
  readonly transport: TransportKind;
  /** Address of the peer as `host:port`. */
  readonly remoteAddress: string;
  readonly space: MessageSpace;
  readonly messageLengthMax: number;
  /** Default 5 s. */
  readonly closeGraceMs?: number | undefined;
  /** Called after `onClose`. */
  readonly onGone?: () => void;
}

/**
 * A connection over a carrier that keeps messages apart, either half. Its carrier is attached once, tells it
 * each message by `received`, the end of each read by `readEnded`, and its end by `closed`.
 */
export class CarriedConnection implements Connection {
  readonly transport: TransportKind;
  readonly remoteAddress: string;
  onMessage: (messageLease: Lease) => void = () => {};
  onReadEnd: () => void = () => {};
  onDrain: () => void = () => {};
  onClose: (error?: CodedError) => void = () => {};
  readonly #options: CarriedConnectionOptions;
  readonly #intake: WholeMessageIntake;
  #carrier!: MessageCarrier;
  #sends!: MessageSends;
  #pauses = 0;
  #isClosing = false;
  #isClosed = false;
  #closeError: CodedError | undefined;
  #graceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: CarriedConnectionOptions) {
    this.#options = options;
    this.transport = options.transport;
    this.remoteAddress = options.remoteAddress;
    this.#intake = new WholeMessageIntake({
      space: options.space,
      messageLengthMax: options.messageLengthMax,
      onMessage: (messageLease) => this.onMessage(messageLease),
      onReadEnd: () => this.onReadEnd(),
      onFull: () => this.pause(),
      onRoom: () => this.resume(),
      onFault: (error) => this.close(error),
    });
  }

  /** True while reading is stopped. */
  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  /** Longest message the peer may send now. */
  get messageLengthMax(): number {
    return this.#intake.messageLengthMax;
  }

  /** Takes over an open carrier. */
  attach(carrier: MessageCarrier): void {
    this.#carrier = carrier;
    this.#sends = new MessageSends((messages, done) => carrier.write(messages, done));
    this.#sends.onDrain = () => this.onDrain();
  }

  /** The carrier brought one message; its bytes are the connection's from now on. */
  received(message: Uint8Array): void {
    this.#intake.received(message);
  }

  /** The carrier handed over all messages of one read. */
  readEnded(): void {
    if (!this.#isClosing) this.onReadEnd();
  }

  /** The carrier is closed; without an error in order. */
  closed(error?: CodedError): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isClosing = true;
    if (error !== undefined) this.#closeError ??= error;
    clearTimeout(this.#graceTimer);
    this.#intake.close();
    this.#sends.fail(this.#closeError ?? disconnected());
    this.onClose(this.#closeError);
    this.#options.onGone?.();
  }

  send(parts: readonly Uint8Array[], onWritten?: (error?: CodedError) => void): boolean {
    return this.#sends.send(parts, onWritten);
  }

  pause(): void {
    if (this.#pauses++ === 0) this.#carrier.pause();
  }

  resume(): void {
    if (this.#pauses === 0) return;
    if (--this.#pauses === 0 && !this.#isClosed) this.#carrier.resume();
  }

  close(error?: CodedError): void {
    if (this.#isClosed) return;
    if (error !== undefined) {
      this.#closeError ??= error;
      this.#stopReading();
      this.#carrier.abort(error);
      this.#sends.fail(error);
    } else if (!this.#isClosing) {
      this.#stopReading();
      this.#sends.finish(disconnected());
      this.#carrier.end();
      this.#graceTimer = setTimeout(
        () => this.close(disconnected()),
        this.#options.closeGraceMs ?? CLOSE_GRACE_MS,
      );
      (this.#graceTimer as { unref?: () => void }).unref?.();
    }
  }

  limitMessages(lengthMax: number): void {
    this.#intake.limit(lengthMax);
  }

  /** Nothing more is handed over; what still comes is read and dropped, so that the peer's end is seen. */
  #stopReading(): void {
    this.#isClosing = true;
    this.#intake.close();
    if (this.#pauses > 0) this.#carrier.resume();
    this.#pauses = 0;
  }
}
