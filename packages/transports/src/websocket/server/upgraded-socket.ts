import type { Socket } from "node:net";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { CarriedConnection } from "../../carried/carried-connection.ts";

/**
 * Fragments of one message. Each costs some 120 bytes of heap until the message is whole, so a peer that
 * sends empty ones holds half a MiB. Clients that fragment do so at 4 KiB or more: 16 MiB pass.
 */
export const FRAGMENTS_MAX = 4096;

/** What frames may take beyond the message inside: a 14-byte header for each, and one read of 64 KiB. */
const FRAMING_LENGTH_MAX = FRAGMENTS_MAX * 14 + 65_536;

/** Header and mask of the frames a peer may send between those of a message: ping and pong. */
const CONTROL_FRAME_LENGTH = 6;

/** Slowest pace of a long message beyond the base time; as on TCP. */
const SLOWEST_LENGTH_PER_MS = 1024;

/**
 * Watches the bytes below a WebSocket, which `ws` collects on the heap until a message is whole: no peer may
 * leave more there than one message of the length it is allowed, nor leave it there for long.
 */
export class UpgradedSocket {
  readonly #connection: CarriedConnection;
  #lengthSinceMessage = 0;
  #beganMs = 0;
  #hasMessage = false;
  #isSilent = true;

  constructor(socket: Socket, connection: CarriedConnection) {
    this.#connection = connection;
    // Added after the listener of `ws`: the messages of these bytes were handed over already.
    socket.on("data", (bytes: Uint8Array) => this.#onBytes(bytes.length));
  }

  /** True until the first byte behind the handshake came. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** A whole message came. */
  noteMessage(): void {
    this.#hasMessage = true;
  }

  /** A ping or pong of this length came. */
  noteControl(length: number): void {
    this.#lengthSinceMessage -= CONTROL_FRAME_LENGTH + length;
  }

  /** True when the peer owes the rest of one message for longer than `baseMs` and a second for each MiB. */
  owesTooLong(nowMs: number, baseMs: number): boolean {
    if (this.#lengthSinceMessage <= 0 || this.#connection.isPaused) return false;
    return nowMs - this.#beganMs > baseMs + this.#lengthSinceMessage / SLOWEST_LENGTH_PER_MS;
  }

  #onBytes(length: number): void {
    this.#isSilent = false;
    if (this.#hasMessage) this.#lengthSinceMessage = 0;
    else this.#count(length);
    const endsMessage = this.#hasMessage;
    this.#hasMessage = false;
    if (endsMessage) this.#connection.readEnded();
  }

  #count(length: number): void {
    if (this.#lengthSinceMessage <= 0) this.#beganMs = performance.now();
    this.#lengthSinceMessage += length;
    const { messageLengthMax } = this.#connection;
    if (this.#lengthSinceMessage <= messageLengthMax + FRAMING_LENGTH_MAX) return;
    const text = `A message is longer than ${messageLengthMax} bytes.`;
    const details = { messageLengthMax };
    this.#connection.close(new CodedError(ErrorCode.FrameTooLarge, text, { details }));
  }
}
