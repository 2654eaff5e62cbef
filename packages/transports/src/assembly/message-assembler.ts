import { CodedError, ErrorCode } from "@millrace/errors";
import { HEADER_LENGTH, type Lease } from "@millrace/framing";
import type { MessageSpace } from "./message-space.ts";

/**
 * The length of a message lies at 48 and takes four bytes; with this many the message's range can be taken.
 */
const LENGTH_POSITION = 48;
const LENGTH_KNOWN_AFTER = LENGTH_POSITION + 4;

/** What an assembler needs and whom it tells. */
export interface AssemblerOptions {
  readonly space: MessageSpace;
  /** Longest message, header and body, in bytes. */
  readonly messageLengthMax: number;
  /** Called once per whole message; the lease is released when it returns. */
  readonly onMessage: (messageLease: Lease) => void;
}

/**
 * Makes whole messages out of bytes that come in pieces of any length.
 *
 * Bytes are copied in by `push`, or read straight into `target()` and announced by `filled`. A length outside
 * 256..max leaves `fault`, after which nothing more is taken. The begun message is released by `close`.
 */
export class MessageAssembler {
  readonly #options: AssemblerOptions;
  /** First bytes of a message whose length is not known yet, or for which there is no room yet. */
  readonly #head = new Uint8Array(LENGTH_KNOWN_AFTER);
  #headLength = 0;
  #messageLease: Lease | undefined;
  #filledLength = 0;
  #messageLengthMax: number;
  #messagesTaken = 0;
  /** The next read goes to `target()`, whatever becomes of the connection until then. */
  #isLent = false;
  #closed = false;
  #fault: CodedError | undefined;

  constructor(options: AssemblerOptions) {
    this.#options = options;
    this.#messageLengthMax = options.messageLengthMax;
  }

  /** Longest message from the next one on, in bytes; never more than the options say. */
  limit(messageLengthMax: number): void {
    this.#messageLengthMax = Math.min(messageLengthMax, this.#options.messageLengthMax);
  }

  /** Messages handed over so far. */
  get messagesTaken(): number {
    return this.#messagesTaken;
  }

  /** Length of the begun message; 0 when none is begun or its length is not known. */
  get begunLength(): number {
    return this.#messageLease?.length ?? 0;
  }

  /** Why no more bytes are taken; the connection is to be closed without a reply. */
  get fault(): CodedError | undefined {
    return this.#fault;
  }

  /** True while part of a message is here. */
  get midMessage(): boolean {
    return this.#headLength > 0 || this.#messageLease !== undefined;
  }

  /** True when the next message's length is known and there is no room for it; any `push` tries again. */
  get waitsForRoom(): boolean {
    return this.#headLength === LENGTH_KNOWN_AFTER && this.#fault === undefined;
  }

  /**
   * Takes bytes and returns how many: fewer than given when there is no room, after a fault and after
   * `close`.
   */
  push(bytes: Uint8Array): number {
    let at = 0;
    while (!this.#closed && this.#fault === undefined) {
      if (this.#messageLease === undefined && !this.#beginAt(bytes, at)) {
        at += this.#collectHead(bytes, at);
        if (this.#headLength < LENGTH_KNOWN_AFTER || !this.#beginWithHead()) break;
      }
      if (at === bytes.length) break;
      at += this.#copyBody(bytes, at);
    }
    return at;
  }

  /** Bytes the begun message still needs; 0 when none is begun or its length is not known. */
  get restLength(): number {
    return this.#messageLease === undefined ? 0 : this.#messageLease.length - this.#filledLength;
  }

  /** The place of the begun message's missing bytes, lent until `filled`; undefined when none is begun. */
  target(): Uint8Array | undefined {
    this.#isLent = this.#messageLease !== undefined;
    return this.#messageLease?.bytes.subarray(this.#filledLength);
  }

  /** The first `length` bytes of `target()` were read. */
  filled(length: number): void {
    this.#isLent = false;
    this.#filledLength += length;
    if (this.#closed) this.#letGo();
    else if (this.restLength === 0) this.#handOver();
  }

  /**
   * Nothing is taken any more. Lets go of a begun message, one whose place is lent once it was `filled` or
   * there is nothing that reads any more: it would be another's by then.
   */
  close(): void {
    this.#closed = true;
    this.#headLength = 0;
    if (!this.#isLent) this.#letGo();
  }

  /** As `close`, and nothing reads any more. */
  end(): void {
    this.#isLent = false;
    this.close();
  }

  #letGo(): void {
    this.#messageLease?.release();
    this.#messageLease = undefined;
  }

  #collectHead(bytes: Uint8Array, at: number): number {
    const length = Math.min(LENGTH_KNOWN_AFTER - this.#headLength, bytes.length - at);
    for (let index = 0; index < length; index++)
      this.#head[this.#headLength + index] = bytes[at + index] ?? 0;
    this.#headLength += length;
    return length;
  }

  /**
   * The quick way: the length lies whole in these bytes, is allowed, and there is room. Takes no bytes yet.
   */
  #beginAt(bytes: Uint8Array, at: number): boolean {
    if (this.#headLength > 0 || bytes.length - at < LENGTH_KNOWN_AFTER) return false;
    const length = lengthAt(bytes, at);
    if (length < HEADER_LENGTH || length > this.#messageLengthMax) return false;
    this.#messageLease = this.#options.space.take(length);
    this.#filledLength = 0;
    return this.#messageLease !== undefined;
  }

  #beginWithHead(): boolean {
    const length = lengthAt(this.#head, 0);
    if (length < HEADER_LENGTH || length > this.#messageLengthMax) {
      this.#fault = badLength(length, this.#messageLengthMax);
      return false;
    }
    this.#messageLease = this.#options.space.take(length);
    if (this.#messageLease === undefined) return false;
    this.#messageLease.bytes.set(this.#head);
    this.#filledLength = LENGTH_KNOWN_AFTER;
    this.#headLength = 0;
    return true;
  }

  #copyBody(bytes: Uint8Array, at: number): number {
    const length = Math.min(this.restLength, bytes.length - at);
    const messageLease = this.#messageLease;
    if (messageLease !== undefined && length > 0) {
      const { home, homePosition } = messageLease;
      home.bytes.set(bytes.subarray(at, at + length), homePosition + this.#filledLength);
    }
    this.filled(length);
    return length;
  }

  #handOver(): void {
    const messageLease = this.#messageLease;
    if (messageLease === undefined) return;
    this.#messageLease = undefined;
    this.#messagesTaken++;
    try {
      this.#options.onMessage(messageLease);
    } finally {
      messageLease.release();
    }
  }
}

/** As `messageLengthAt` of framing, without a `DataView` for every read. */
function lengthAt(bytes: Uint8Array, at: number): number {
  const position = at + LENGTH_POSITION;
  const low = bytes[position]! | (bytes[position + 1]! << 8);
  return (low | (bytes[position + 2]! << 16) | (bytes[position + 3]! << 24)) >>> 0;
}

function badLength(length: number, messageLengthMax: number): CodedError {
  const code = length < HEADER_LENGTH ? ErrorCode.InvalidCommand : ErrorCode.FrameTooLarge;
  const text = `A message announces ${length} bytes; ${HEADER_LENGTH} to ${messageLengthMax} are allowed.`;
  return new CodedError(code, text, {
    details: { length, messageLengthMin: HEADER_LENGTH, messageLengthMax },
  });
}
