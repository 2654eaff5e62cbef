import type { CodedError } from "@millrace/errors";
import { type AssemblerOptions, MessageAssembler } from "./message-assembler.ts";

/** Whom an intake tells besides the taker of messages. */
export interface IntakeOptions extends AssemblerOptions {
  /** There is no room for a message: stop reading until `onRoom`. */
  readonly onFull: () => void;
  /** What was held back has been taken: go on reading. */
  readonly onRoom: () => void;
  /** The peer broke the framing: close without a reply. */
  readonly onFault: (error: CodedError) => void;
  /** The messages of one read were handed over. */
  readonly onReadEnd: () => void;
}

/**
 * The receiving side of a connection: feeds an assembler and holds bytes back while there is no room for
 * them.
 *
 * Held back is at most what one read brought (see `Landing`), for the carrier stops reading at `onFull`;
 * so all connections together hold back at most their number times that.
 */
export class MessageIntake {
  readonly #options: IntakeOptions;
  readonly #assembler: MessageAssembler;
  #heldBack: Uint8Array | undefined;
  #closed = false;
  #endedInPlace = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#assembler = new MessageAssembler(options);
  }

  /** The message whose rest the peer owes: how many were before it and its length, as far as known. */
  get owed(): { readonly index: number; readonly length: number } | undefined {
    if (!this.#assembler.midMessage || this.#heldBack !== undefined) return undefined;
    return { index: this.#assembler.messagesTaken, length: this.#assembler.begunLength };
  }

  /**
   * The last read ended a message in its place: the next one is likely as long, and what is read of it before
   * its length is known has to be copied.
   */
  get endedInPlace(): boolean {
    return this.#endedInPlace;
  }

  /** Longest message from the next one on, in bytes; never more than the options say. */
  limit(messageLengthMax: number): void {
    this.#assembler.limit(messageLengthMax);
  }

  /** Where the next bytes may be read to, when the begun message needs at least `lengthMin` more. */
  target(lengthMin: number): Uint8Array | undefined {
    return !this.#closed && this.#assembler.restLength >= lengthMin ? this.#assembler.target() : undefined;
  }

  /** The first `length` bytes of the last `target` were read. */
  filled(length: number): void {
    const wasClosed = this.#closed;
    this.#assembler.filled(length);
    if (wasClosed) return;
    this.#endedInPlace = !this.#assembler.midMessage;
    this.#options.onReadEnd();
  }

  /** One read brought these bytes; they are the caller's again on return. */
  received(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.#endedInPlace = false;
    if (this.#heldBack === undefined) this.#take(bytes, false);
    else this.#heldBack = joined(this.#heldBack, bytes);
  }

  /**
   * Lets everything go but the place where the next read goes, if that is lent; nothing is handed over any
   * more.
   */
  close(): void {
    this.#closed = true;
    this.#heldBack = undefined;
    this.#options.space.forget(this.#tryAgain);
    this.#assembler.close();
  }

  /** As `close`, and nothing reads any more. */
  end(): void {
    this.close();
    this.#assembler.end();
  }

  /** Returns whether all was taken. `owned`: the bytes are ours to keep. */
  #take(bytes: Uint8Array, owned: boolean): boolean {
    const taken = this.#assembler.push(bytes);
    if (this.#closed) return false;
    const { fault } = this.#assembler;
    this.#options.onReadEnd();
    if (fault !== undefined) this.#options.onFault(fault);
    if (fault !== undefined || this.#closed) return false;
    // A message whose length is known waits for room even when all bytes of this read are in its head.
    if (taken === bytes.length && !this.#assembler.waitsForRoom) return true;
    this.#heldBack = owned ? bytes.subarray(taken) : bytes.slice(taken);
    if (!owned) this.#options.onFull();
    this.#options.space.onAvailable(this.#tryAgain);
    return false;
  }

  readonly #tryAgain = (): void => {
    const bytes = this.#heldBack;
    if (this.#closed || bytes === undefined) return;
    this.#heldBack = undefined;
    if (this.#take(bytes, true)) this.#options.onRoom();
  };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
