import type { OnReadOpts, Socket } from "node:net";
import type { CodedError } from "@millrace/errors";
import type { Lease } from "@millrace/framing";
import { type Connection, TransportKind } from "@millrace/platform";
import { MessageIntake } from "../assembly/message-intake.ts";
import type { MessageSpace } from "../assembly/message-space.ts";
import { disconnected } from "../connection-lost.ts";
import { peerText } from "../listening/addresses.ts";
import { LANDING_LENGTH, type Landing, type LandingPlace } from "./landing.ts";
import { WriteQueue } from "./write-queue.ts";

/** How long a peer may take to take our last bytes and close its side after we closed ours. */
const CLOSE_GRACE_MS = 5000;

/** Slowest pace of a long message beyond the base time: a poor line still has it, a leech wants less. */
const SLOWEST_LENGTH_PER_MS = 1024;

/** What a connection needs besides its socket. */
export interface TcpConnectionOptions {
  readonly space: MessageSpace;
  readonly messageLengthMax: number;
  /** Default 5 s. */
  readonly closeGraceMs?: number | undefined;
  /** Called after `onClose`. */
  readonly onGone?: () => void;
}

/** A connection over a TCP socket, either half. The socket is attached once, by `attach`. */
export class TcpConnection implements Connection {
  readonly transport = TransportKind.tcp;
  remoteAddress = "";
  onMessage: (messageLease: Lease) => void = () => {};
  onReadEnd: () => void = () => {};
  onDrain: () => void = () => {};
  onClose: (error?: CodedError) => void = () => {};
  readonly #options: TcpConnectionOptions;
  readonly #intake: MessageIntake;
  #socket!: Socket;
  #landingPlace: LandingPlace | undefined;
  #writes!: WriteQueue;
  #pauses = 0;
  #closing = false;
  #closeError: CodedError | undefined;
  #graceTimer: ReturnType<typeof setTimeout> | undefined;
  #owedIndex = -1;
  #owedSinceMs = 0;

  constructor(options: TcpConnectionOptions) {
    this.#options = options;
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

  /**
   * `onread` of the socket to attach: what a long message still lacks is read straight into its place, the
   * rest where it lands with that of other connections.
   */
  onread(landing: Landing): OnReadOpts {
    const place = landing.place();
    this.#landingPlace = place;
    return {
      buffer: () => this.#intake.target(LANDING_LENGTH) ?? place.next(this.#intake.endedInPlace),
      callback: (length, buffer) => {
        const landed = place.landed(buffer, length);
        if (landed !== undefined) this.#intake.received(landed);
        else this.#intake.filled(length);
        return true;
      },
    };
  }

  /** Takes over a connected socket. `copying`: its bytes come by `data` events, not by `onread`. */
  attach(socket: Socket, copying: boolean): void {
    this.#socket = socket;
    this.#writes = new WriteQueue(socket);
    this.#writes.onDrain = () => this.onDrain();
    this.remoteAddress = peerText(socket);
    socket.setNoDelay(true);
    socket.on("error", (error) => {
      this.#closeError ??= disconnected(error);
    });
    socket.on("end", () => this.close());
    socket.on("close", () => this.#finish());
    if (!copying) return;
    socket.on("data", (bytes: Uint8Array) => {
      this.#intake.received(bytes);
    });
  }

  send(parts: readonly Uint8Array[], onWritten?: (error?: CodedError) => void): boolean {
    return this.#writes.send(parts, onWritten);
  }

  pause(): void {
    if (this.#pauses++ === 0) this.#socket.pause();
  }

  resume(): void {
    if (this.#pauses === 0) return;
    if (--this.#pauses === 0 && !this.#socket.destroyed) this.#socket.resume();
  }

  close(error?: CodedError): void {
    if (error !== undefined) {
      this.#closeError ??= error;
      this.#stopReading();
      this.#socket.destroy();
    } else if (!this.#closing) {
      this.#stopReading();
      this.#writes.finish(disconnected());
      this.#socket.end();
      this.#graceTimer = setTimeout(
        () => this.close(disconnected()),
        this.#options.closeGraceMs ?? CLOSE_GRACE_MS,
      );
      this.#graceTimer.unref();
    }
  }

  limitMessages(lengthMax: number): void {
    this.#intake.limit(lengthMax);
  }

  /** True until the first byte came. */
  get isSilent(): boolean {
    return this.#socket.bytesRead === 0;
  }

  /**
   * True when the peer owes the rest of one message for too long: `baseMs` and a second for each MiB. Counted
   * from one call to the next, so it is asked every few seconds; time in which we do not read does not count.
   */
  owesTooLong(nowMs: number, baseMs: number): boolean {
    const owed = this.#pauses > 0 ? undefined : this.#intake.owed;
    if (owed?.index !== this.#owedIndex || owed === undefined) {
      this.#owedIndex = owed?.index ?? -1;
      this.#owedSinceMs = nowMs;
      return false;
    }
    return nowMs - this.#owedSinceMs > baseMs + owed.length / SLOWEST_LENGTH_PER_MS;
  }

  /** Nothing more is handed over; what still comes is read and dropped, so that the peer's end is seen. */
  #stopReading(): void {
    this.#closing = true;
    this.#intake.close();
    if (this.#pauses > 0 && !this.#socket.destroyed) this.#socket.resume();
    this.#pauses = 0;
  }

  #finish(): void {
    clearTimeout(this.#graceTimer);
    this.#landingPlace?.close();
    this.#intake.end();
    this.#writes.fail(this.#closeError ?? disconnected());
    const { onClose } = this;
    this.onClose = () => {};
    onClose(this.#closeError);
    this.#options.onGone?.();
  }
}
