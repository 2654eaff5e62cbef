import type { OnReadOpts, Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { CodedError } from "@millrace/errors";
import type { Lease } from "@millrace/framing";
import type { Clock } from "@millrace/platform";
import { MessageIntake } from "../assembly/message-intake.ts";
import type { MessageSpace } from "../assembly/message-space.ts";
import { disconnected } from "../connection-lost.ts";
import { peerText } from "../listening/addresses.ts";
import { FrameQueue, type QueueBounds } from "./frame-queue.ts";

/** What a socket between replicas needs. */
export interface PeerSocketOptions {
  readonly space: MessageSpace;
  /** Longest frame, in bytes. */
  readonly frameLengthMax: number;
  readonly bounds: QueueBounds;
  readonly clock: Clock;
  /** How long the other side may take to close after we did. */
  readonly closeGraceMs: number;
}

/** A socket that carries frames between two replicas, either half, before and after the handshake. */
export class PeerSocket {
  /** Whole frames in order, whose length alone was checked. The lease is released when it returns. */
  onFrame: (frameLease: Lease) => void = () => {};
  /** Called once, last. No error means that one of both sides closed on purpose. */
  onClose: (error?: CodedError) => void = () => {};
  remoteAddress = "";
  /** Monotonic milliseconds at which bytes last came, and at which a frame was last queued. */
  receivedAtMs: number;
  sentAtMs: number;
  bytesSent = 0;
  readonly #options: PeerSocketOptions;
  readonly #intake: MessageIntake;
  #socket!: Socket;
  #queue!: FrameQueue;
  #isHeldBack = false;
  #isClosing = false;
  #closeError: CodedError | undefined;

  constructor(options: PeerSocketOptions) {
    this.#options = options;
    this.receivedAtMs = options.clock.monotonicMs();
    this.sentAtMs = this.receivedAtMs;
    this.#intake = new MessageIntake({
      space: options.space,
      messageLengthMax: options.frameLengthMax,
      onMessage: (frameLease) => this.onFrame(frameLease),
      onReadEnd: () => {},
      onFull: () => this.#holdBack(true),
      onRoom: () => this.#holdBack(false),
      onFault: (error) => this.close(error),
    });
  }

  /** Reads the rest of a long frame straight into its place, everything else into `landing`. */
  onread(landing: Uint8Array): OnReadOpts {
    return {
      buffer: () => this.#intake.target(landing.length) ?? landing,
      callback: (length, buffer) => {
        this.#noteReceived();
        if (buffer === landing) this.#intake.received(landing.subarray(0, length));
        else this.#intake.filled(length);
        return true;
      },
    };
  }

  /** Takes over a socket that connects or is connected. `copying`: its bytes come by `data` events. */
  attach(socket: Socket, copying: boolean): void {
    this.#socket = socket;
    this.#queue = new FrameQueue(socket, this.#options.bounds);
    this.remoteAddress = peerText(socket);
    socket.setNoDelay(true);
    socket.on("error", (error) => {
      this.#closeError ??= disconnected(error);
    });
    socket.on("end", () => this.close());
    socket.on("close", () => this.#finish());
    if (!copying) return;
    socket.on("data", (bytes: Uint8Array) => {
      this.#noteReceived();
      this.#intake.received(bytes);
    });
  }

  /** The socket's TLS, when it has one. */
  get tls(): TLSSocket | undefined {
    return this.#socket instanceof TLSSocket ? this.#socket : undefined;
  }

  /** True while frames of the peer wait for room here: its silence is our doing. */
  get isHeldBack(): boolean {
    return this.#isHeldBack;
  }

  /** True once this side began to close: nothing is taken any more. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  get framesQueued(): number {
    return this.#queue.framesQueued;
  }

  /** Queues a frame, as `PeerBus.send` does. */
  send(parts: readonly Uint8Array[], onDone?: () => void): boolean {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (this.#isClosing || !this.#queue.push(parts, length, onDone)) {
      onDone?.();
      return false;
    }
    this.sentAtMs = this.#options.clock.monotonicMs();
    this.bytesSent += length;
    return true;
  }

  /** Longest frame from the next one on. */
  limit(frameLengthMax: number): void {
    this.#intake.limit(frameLengthMax);
  }

  /** Writes what is queued, then closes; with an error, closes at once and tells it to `onClose`. */
  close(error?: CodedError): void {
    if (this.#isClosing && error === undefined) return;
    if (error !== undefined) this.#closeError ??= error;
    this.#stopReading();
    if (error !== undefined) this.#socket.destroy();
    else this.#endWithin(this.#options.closeGraceMs);
  }

  /** Writes what is queued, closes, and tells `error`: the other side learns from the last frame why. */
  closeAfterWrites(error: CodedError): void {
    this.#closeError ??= error;
    this.close();
  }

  #endWithin(graceMs: number): void {
    this.#socket.end();
    const timer = this.#options.clock.setTimer(graceMs, () => this.#socket.destroy());
    this.#socket.once("close", () => timer.cancel());
  }

  /** What still comes is read and dropped, so that the end of the other side is seen. */
  #stopReading(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#intake.close();
    if (this.#isHeldBack) this.#holdBack(false);
  }

  #noteReceived(): void {
    this.receivedAtMs = this.#options.clock.monotonicMs();
  }

  #holdBack(isFull: boolean): void {
    this.#isHeldBack = isFull;
    if (isFull) this.#socket.pause();
    else if (!this.#socket.destroyed) {
      this.#noteReceived();
      this.#socket.resume();
    }
  }

  #finish(): void {
    this.#isClosing = true;
    this.#intake.end();
    this.#queue.close();
    const { onClose } = this;
    this.onClose = () => {};
    onClose(this.#closeError);
  }
}
