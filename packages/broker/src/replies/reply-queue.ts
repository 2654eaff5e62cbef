import type { Clock, Connection } from "@millrace/platform";
import { Fifo } from "../queues/fifo.ts";

/**
 * How long a peer may take to take what was sent: this base, and more for more bytes at the slowest pace that
 * still counts as reading. Whoever is slower holds message memory that others need.
 */
const STALL_BASE_MS = 30_000;
const SLOWEST_LENGTH_PER_MS = 1024;

const NOTHING: readonly Uint8Array[] = [];

/** A place in a connection's order of replies. */
export interface ExpectedReply {
  /** What leaves, or nothing while the answer is being made. Set once, then never changed. */
  readonly parts: readonly Uint8Array[] | undefined;
  /** True when the connection closes after this reply. */
  readonly isLast: boolean;
  /** Called once, after the write or when there will be none: gives back what `parts` borrow. */
  onWritten(): void;
}

/** Bytes of ready replies that are not written yet, over all connections. */
export interface ReplyTotal {
  length: number;
}

/**
 * One connection's replies, leaving in the order of the requests.
 *
 * Replies that become ready during one event leave in one vectored write when the event ends. What was handed
 * to the connection and is not written yet counts in `lengthQueued`, so that its owner can stop asking for
 * more.
 */
export class ReplyQueue {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #total: ReplyTotal;
  readonly #onRoom: () => void;
  readonly #expected = new Fifo<ExpectedReply>();
  readonly #flushLater = () => this.#flush();
  #lengthQueued = 0;
  /** Bytes handed to the connection and not written, and since when the oldest of them waits. */
  #lengthSent = 0;
  #sentSinceMs = 0;
  #flushScheduled = false;
  #choked = false;
  #closed = false;

  /** @param onRoom  called after a write finished, when `lengthQueued` went down */
  constructor(options: { connection: Connection; clock: Clock; total: ReplyTotal; onRoom: () => void }) {
    this.#connection = options.connection;
    this.#total = options.total;
    this.#clock = options.clock;
    this.#onRoom = options.onRoom;
    this.#connection.onDrain = () => {
      this.#choked = false;
      this.#flush();
    };
  }

  /** Bytes of ready replies that are not written yet. */
  get lengthQueued(): number {
    return this.#lengthQueued;
  }

  /** True when the peer takes what was sent too slowly to be waited for. */
  isStalled(nowMs: number): boolean {
    if (this.#lengthSent === 0) return false;
    return nowMs - this.#sentSinceMs > STALL_BASE_MS + this.#lengthSent / SLOWEST_LENGTH_PER_MS;
  }

  /** Keeps a place for a reply; call it in the order in which the requests came. */
  expect(reply: ExpectedReply): void {
    this.#expected.push(reply);
  }

  /** Says that `reply.parts` are there now. */
  settle(reply: ExpectedReply): void {
    if (this.#closed) {
      reply.onWritten();
      return;
    }
    const length = lengthOf(reply.parts);
    this.#lengthQueued += length;
    this.#total.length += length;
    if (this.#flushScheduled || this.#choked) return;
    this.#flushScheduled = true;
    this.#clock.afterEvent(this.#flushLater);
  }

  /**
   * The connection is gone: what is ready gives back what it borrows, what becomes ready later does so at
   * once.
   */
  close(): void {
    this.#closed = true;
    this.#total.length -= this.#lengthQueued;
    this.#lengthQueued = 0;
    this.#lengthSent = 0;
    for (const reply of this.#expected.drain()) if (reply.parts !== undefined) reply.onWritten();
  }

  #flush(): void {
    this.#flushScheduled = false;
    if (this.#choked || this.#closed) return;
    const leaving = this.#takeReady();
    if (leaving.length === 0) return;
    const parts: Uint8Array[] = [];
    for (const reply of leaving) for (const part of reply.parts ?? NOTHING) parts.push(part);
    const isLast = leaving[leaving.length - 1]?.isLast === true;
    if (this.#lengthSent === 0) this.#sentSinceMs = this.#clock.monotonicMs();
    this.#lengthSent += lengthOf(parts);
    this.#choked = !this.#connection.send(parts, () => this.#written(leaving));
    if (isLast) this.#connection.close();
  }

  /** The run of ready replies at the front; nothing leaves after the one that closes the connection. */
  #takeReady(): ExpectedReply[] {
    const ready: ExpectedReply[] = [];
    for (let next = this.#expected.peek(); next?.parts !== undefined; next = this.#expected.peek()) {
      ready.push(next);
      this.#expected.shift();
      if (next.isLast) break;
    }
    return ready;
  }

  #written(replies: readonly ExpectedReply[]): void {
    let length = 0;
    for (const reply of replies) {
      length += lengthOf(reply.parts);
      reply.onWritten();
    }
    if (this.#closed) return;
    this.#lengthQueued -= length;
    this.#total.length -= length;
    this.#lengthSent -= length;
    this.#sentSinceMs = this.#clock.monotonicMs();
    this.#onRoom();
  }
}

function lengthOf(parts: readonly Uint8Array[] | undefined): number {
  let length = 0;
  for (const part of parts ?? NOTHING) length += part.length;
  return length;
}
