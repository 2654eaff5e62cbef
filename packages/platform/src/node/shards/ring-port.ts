import type { MessagePort } from "node:worker_threads";
import type { Ring } from "./ring.ts";

/**
 * Records taken in one event before others get their turn: some hundred microseconds of work. What is left is
 * taken in the next.
 */
const RECORDS_PER_EVENT = 256;

/** A message, or a piece of one, that waits for room. */
interface Waiting {
  readonly record: Uint8Array;
  readonly hasMore: boolean;
}

/**
 * One end of the way between two threads: a ring out, a ring in, and a doorbell for who sleeps.
 *
 * Whoever finds nothing to read says so in the ring and is rung awake by the next writer; while it is awake
 * nobody rings, so a busy way costs no system call. A message that finds no room waits here, in order, and
 * the reader rings when it has made some; how many may wait is for those to bound who send. Longer messages
 * travel in pieces.
 */
export class RingPort {
  /** Called once per message; the bytes are lent for the call. */
  onMessage: (message: Uint8Array) => void = () => {};
  readonly #out: Ring;
  readonly #in: Ring;
  readonly #doorbell: MessagePort;
  readonly #waiting: Waiting[] = [];
  #pieces: Uint8Array[] = [];
  #isDrainDue = false;
  #isClosed = false;
  readonly #take = (record: Uint8Array, hasMore: boolean) => this.#receive(record, hasMore);

  constructor(rings: { readonly out: Ring; readonly in: Ring }, doorbell: MessagePort) {
    this.#out = rings.out;
    this.#in = rings.in;
    this.#doorbell = doorbell;
  }

  /** Begins to listen, and takes what came before. */
  start(): void {
    this.#doorbell.on("message", () => {
      this.#flush();
      this.#drain();
    });
    this.#drain();
  }

  /** Messages, or pieces of them, that wait for room. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Sends a message of any length; its bytes are the caller's again when this returns. */
  send(message: Uint8Array): void {
    const lengthMax = this.#out.recordLengthMax;
    let start = 0;
    while (message.length - start > lengthMax) {
      this.#put(message.subarray(start, start + lengthMax), true);
      start += lengthMax;
    }
    this.#put(start === 0 ? message : message.subarray(start), false);
    this.#wakeReader();
  }

  /** Ends listening; the thread may end then. */
  close(): void {
    this.#isClosed = true;
    this.#doorbell.close();
  }

  #put(record: Uint8Array, hasMore: boolean): void {
    if (this.#waiting.length === 0 && this.#out.push(record, hasMore)) return;
    this.#waiting.push({ record: record.slice(), hasMore });
    if (this.#waiting.length === 1) this.#flush();
  }

  /** Sends what waits, as far as there is room, and asks to be rung when there is more. */
  #flush(): void {
    let sentCount = 0;
    for (const { record, hasMore } of this.#waiting) {
      if (!this.#out.push(record, hasMore)) {
        this.#out.wantRoom();
        // Room that was made before the reader could see the wish is found by trying again.
        if (!this.#out.push(record, hasMore)) break;
      }
      sentCount += 1;
    }
    if (sentCount === 0) return;
    this.#waiting.splice(0, sentCount);
    this.#wakeReader();
  }

  #drain(): void {
    this.#isDrainDue = false;
    if (this.#isClosed) return;
    this.#in.takeSleep();
    let count = 0;
    while (count < RECORDS_PER_EVENT && this.#in.shift(this.#take)) count += 1;
    if (this.#in.takeWantsRoom()) this.#ring();
    if (this.#in.isEmpty) {
      this.#in.fallAsleep();
      // What was written before the writer could see that we sleep comes without a bell.
      if (this.#in.isEmpty) return;
    }
    if (this.#isDrainDue) return;
    this.#isDrainDue = true;
    setImmediate(() => this.#drain());
  }

  #receive(record: Uint8Array, hasMore: boolean): void {
    if (!hasMore && this.#pieces.length === 0) {
      this.onMessage(record);
      return;
    }
    this.#pieces.push(record.slice());
    if (hasMore) return;
    const message = joined(this.#pieces);
    this.#pieces = [];
    this.onMessage(message);
  }

  #wakeReader(): void {
    if (!this.#out.isEmpty && this.#out.takeSleep()) this.#ring();
  }

  #ring(): void {
    this.#doorbell.postMessage(null);
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const message = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    message.set(piece, at);
    at += piece.length;
  }
  return message;
}
