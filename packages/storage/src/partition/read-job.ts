import { CodedError, ErrorCode } from "@millrace/errors";
import type { BlockPool } from "@millrace/framing";
import { BATCH_HEADER_LENGTH, type ChecksumKernel, frameLengthAt, type Lease } from "@millrace/framing";

/**
 * What a read found: batches back to back, ready for a vectored write after the reply's own header.
 *
 * The parts are views into leased blocks; `release` lets them go and is called exactly once. An empty result
 * (count 0) means that there is nothing committed at or behind the place asked for yet.
 */
export interface ReadResult {
  readonly parts: readonly Uint8Array[];
  /** Bytes of all parts. */
  readonly length: number;
  /** Messages. */
  readonly count: number;
  /** Offset of the first message; meaningless when `count` is 0. */
  readonly firstOffset: number;
  readonly lastOffset: number;
  release(): void;
}

/** A verified batch in the kernel's memory. */
export interface FoundBatch {
  readonly lease: Lease;
  /** First byte in the kernel's memory. */
  readonly position: number;
  readonly length: number;
  readonly baseOffset: number;
  readonly count: number;
}

/** Why a batch was not taken: the reply is full, or no block was free to make a shorter header in. */
export type TakeOutcome = "taken" | "full" | "no-block";

/** A read under way and, when it is over, its result. */
export class ReadJob implements ReadResult {
  length = 0;
  count = 0;
  firstOffset = 0;
  /** Offset to go on at. */
  next: number;
  /** First offset not to be read: the committed end when the read began. */
  readonly end: number;
  readonly generation: number;
  isFull = false;
  readonly #kernel: ChecksumKernel;
  readonly #pool: BlockPool;
  readonly #countMax: number;
  readonly #lengthMax: number;
  readonly #parts: Uint8Array[] = [];
  /** End of the last part in the kernel's memory; -1 when the next range cannot lengthen it. */
  #openRangeEnd = -1;
  #leases: Lease[] = [];

  constructor(
    memory: { readonly kernel: ChecksumKernel; readonly pool: BlockPool },
    range: { readonly from: number; readonly end: number; readonly generation: number },
    limits: { readonly count: number; readonly lengthMax: number },
  ) {
    this.#kernel = memory.kernel;
    this.#pool = memory.pool;
    this.next = range.from;
    this.end = range.end;
    this.generation = range.generation;
    this.#countMax = limits.count;
    this.#lengthMax = limits.lengthMax;
  }

  get parts(): readonly Uint8Array[] {
    return this.#parts;
  }

  get lastOffset(): number {
    return this.count === 0 ? 0 : this.next - 1;
  }

  get countLeft(): number {
    return this.#countMax - this.count;
  }

  get lengthLeft(): number {
    return this.#lengthMax - this.length;
  }

  get isComplete(): boolean {
    return this.isFull || this.countLeft <= 0 || this.next >= this.end;
  }

  /** True when the batch goes into the reply as it is. */
  fitsWhole(batch: Omit<FoundBatch, "lease" | "position">): boolean {
    return this.next <= batch.baseOffset && batch.count <= this.countLeft && batch.length <= this.lengthLeft;
  }

  /**
   * Adds the wanted messages of a batch: all of it as it is, or a run of frames behind a header of its own.
   * @throws CodedError `FrameTooLarge` when not even the first message of the reply fits
   * @throws WireError when a frame does not parse; verified batches do
   */
  take(batch: FoundBatch): TakeOutcome {
    if (this.fitsWhole(batch)) {
      this.#addRange(batch.position, batch.position + batch.length);
      this.#keep(batch, { firstOffset: batch.baseOffset, count: batch.count });
      return "taken";
    }
    return this.#takeRun(batch);
  }

  #takeRun(batch: FoundBatch): TakeOutcome {
    const index = Math.max(0, this.next - batch.baseOffset);
    const wanted = Math.min(batch.count - index, this.countLeft);
    const count = this.#framesThatFit(batch, index, wanted);
    if (count === 0) return this.#refuse(batch);
    // A pool that is short lets caches go: without a hold of its own this batch might be among what goes.
    const { lease } = batch;
    lease.retain();
    const scratch = this.#pool.allocate(BATCH_HEADER_LENGTH);
    if (scratch === undefined) {
      lease.release();
      return "no-block";
    }
    const run = this.#kernel.sliceBatch(batch.position, index, count, scratch.position);
    const header = scratch.bytes.slice(0, BATCH_HEADER_LENGTH);
    scratch.release();
    this.#parts.push(header);
    this.length += header.length;
    this.#openRangeEnd = -1;
    this.#addRange(run.start, run.end);
    this.#keep(batch, { firstOffset: batch.baseOffset + index, count });
    lease.release();
    if (count < wanted) this.isFull = true;
    return "taken";
  }

  /** How many of the `wanted` frames from `index` on fit into what is left, header included. */
  #framesThatFit(batch: FoundBatch, index: number, wanted: number): number {
    const view = new DataView(this.#kernel.memory.bytes.buffer, batch.position, batch.length);
    let position = BATCH_HEADER_LENGTH;
    for (let skipped = 0; skipped < index; skipped += 1) position += frameLengthAt(view, position);
    let left = this.lengthLeft - BATCH_HEADER_LENGTH;
    let count = 0;
    for (; count < wanted; count += 1) {
      const frameLength = frameLengthAt(view, position);
      if (frameLength > left) break;
      left -= frameLength;
      position += frameLength;
    }
    return count;
  }

  #refuse(batch: FoundBatch): TakeOutcome {
    if (this.count > 0) {
      this.isFull = true;
      return "full";
    }
    const offset = Math.max(this.next, batch.baseOffset);
    throw new CodedError(
      ErrorCode.FrameTooLarge,
      `The message at offset ${offset} alone exceeds the reply limit.`,
      {
        details: { offset, lengthMax: this.#lengthMax },
      },
    );
  }

  /** Adds a range of the kernel's memory; one that follows the last in memory lengthens it instead. */
  #addRange(start: number, end: number): void {
    const { bytes } = this.#kernel.memory;
    this.length += end - start;
    const last = this.#parts[this.#parts.length - 1];
    if (last !== undefined && start === this.#openRangeEnd) {
      this.#parts[this.#parts.length - 1] = bytes.subarray(last.byteOffset - bytes.byteOffset, end);
    } else {
      this.#parts.push(bytes.subarray(start, end));
    }
    this.#openRangeEnd = end;
  }

  #keep(batch: FoundBatch, run: { firstOffset: number; count: number }): void {
    if (this.#leases[this.#leases.length - 1] !== batch.lease) {
      batch.lease.retain();
      this.#leases.push(batch.lease);
    }
    if (this.count === 0) this.firstOffset = run.firstOffset;
    this.count += run.count;
    this.next = run.firstOffset + run.count;
  }

  release(): void {
    const leases = this.#leases;
    this.#leases = [];
    for (const lease of leases) lease.release();
  }
}
