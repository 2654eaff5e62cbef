import { assert } from "@millrace/errors";

/**
 * Words in front of the records. Each lies in a cache line of its own (16 words), so that two threads that
 * write different ones do not take them from each other.
 */
const At = { written: 0, read: 16, isAsleep: 32, wantsRoom: 48 } as const;
const CONTROL_LENGTH = 256;
/** In front of each record: its length, with the top bit when more of the same message follows. */
const HEAD_LENGTH = 4;
const MORE = 0x8000_0000;
/** A head that says: the rest up to the end of the ring is empty. */
const SKIP = 0x7fff_ffff;

/**
 * One direction between two threads: a ring of records in shared memory, with one writer and one reader.
 *
 * Counters of bytes written and read only grow (modulo 2^32); where they stand in the ring is their
 * remainder.
 * Storing a counter publishes the bytes before it: that is what makes it safe without a lock. The two sleep
 * words carry who has to be woken, see `RingPort`.
 */
export class Ring {
  /** The memory to give to the other thread. */
  readonly buffer: SharedArrayBuffer;
  readonly #control: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #length: number;

  /** @param buffer  from `createRingBuffer`, the same at both ends */
  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#length = buffer.byteLength - CONTROL_LENGTH;
    this.#control = new Int32Array(buffer, 0, CONTROL_LENGTH / 4);
    this.#bytes = new Uint8Array(buffer, CONTROL_LENGTH);
    this.#view = new DataView(buffer, CONTROL_LENGTH);
  }

  /** Longest record: several find room, so that a long message flows instead of waiting for an empty ring. */
  get recordLengthMax(): number {
    return this.#length / 4;
  }

  get isEmpty(): boolean {
    return Atomics.load(this.#control, At.written) === Atomics.load(this.#control, At.read);
  }

  /** The writer's: adds a record; false when there is no room now. */
  push(record: Uint8Array, hasMore: boolean): boolean {
    const written = Atomics.load(this.#control, At.written);
    const used = (written - Atomics.load(this.#control, At.read)) >>> 0;
    const needed = spanOf(record.length);
    let at = (written >>> 0) % this.#length;
    const skipped = at + needed > this.#length ? this.#length - at : 0;
    if (used + skipped + needed > this.#length) return false;
    if (skipped > 0) {
      this.#view.setUint32(at, SKIP, true);
      at = 0;
    }
    this.#view.setUint32(at, hasMore ? record.length + MORE : record.length, true);
    this.#bytes.set(record, at + HEAD_LENGTH);
    Atomics.store(this.#control, At.written, written + skipped + needed);
    return true;
  }

  /**
   * The reader's: hands over the next record and frees it when `take` returns; false when there is none.
   * @param take  the bytes are a view of the ring, good for the call
   */
  shift(take: (record: Uint8Array, hasMore: boolean) => void): boolean {
    const read = Atomics.load(this.#control, At.read);
    if (read === Atomics.load(this.#control, At.written)) return false;
    let at = (read >>> 0) % this.#length;
    let head = this.#view.getUint32(at, true);
    const skipped = head === SKIP ? this.#length - at : 0;
    if (skipped > 0) {
      at = 0;
      head = this.#view.getUint32(0, true);
    }
    const length = head % MORE;
    assert(length <= this.recordLengthMax, "a ring holds records that its writer made");
    take(this.#bytes.subarray(at + HEAD_LENGTH, at + HEAD_LENGTH + length), head >= MORE);
    Atomics.store(this.#control, At.read, read + skipped + spanOf(length));
    return true;
  }

  /** The reader's: says that it will look again only when it is woken. */
  fallAsleep(): void {
    Atomics.store(this.#control, At.isAsleep, 1);
  }

  /**
   * True once per `fallAsleep`, for whoever has to wake the reader, or for the reader that woke by
   * itself.
   */
  takeSleep(): boolean {
    if (Atomics.load(this.#control, At.isAsleep) === 0) return false;
    return Atomics.exchange(this.#control, At.isAsleep, 0) === 1;
  }

  /** The writer's: says that it waits for room. */
  wantRoom(): void {
    Atomics.store(this.#control, At.wantsRoom, 1);
  }

  /** True once per `wantRoom`: the reader has to wake the writer. */
  takeWantsRoom(): boolean {
    if (Atomics.load(this.#control, At.wantsRoom) === 0) return false;
    return Atomics.exchange(this.#control, At.wantsRoom, 0) === 1;
  }
}

/**
 * Memory of a ring for `length` bytes of records. A power of two, so that the counters may go round at 2^32.
 */
export function createRingBuffer(length: number): SharedArrayBuffer {
  assert(length >= 64 && (length & (length - 1)) === 0, "a ring's length is a power of two");
  return new SharedArrayBuffer(CONTROL_LENGTH + length);
}

/** Bytes of a record with its head, such that the next head is aligned and fits before the end. */
function spanOf(length: number): number {
  return (HEAD_LENGTH + length + 3) & ~3;
}
