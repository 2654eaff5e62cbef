import {
  BATCH_HEADER_LENGTH,
  type BlockPool,
  baseOffsetAt,
  baseTimestampAt,
  batchChecksumAt,
  batchLengthAt,
  type ChecksumKernel,
  FRAME_HEADER_LENGTH,
  frameLengthAt,
  isWireError,
  type Lease,
  messageCountAt,
  partitionIdAt,
} from "@millrace/framing";
import type { DiskFile } from "@millrace/platform";
import type { BatchPlace } from "../op-record/record.ts";
import { readAt } from "../segment/file-calls.ts";
import type { ByteRange } from "./lost-bytes.ts";
import { allocateWaiting } from "./pool-wait.ts";

/** A batch that verifies, found without a record that names it. */
export interface WindowBatch extends Omit<BatchPlace, "checksum"> {
  /** Micros. */
  readonly timestamp: number;
}

/**
 * A window into a `.log` in the kernel's memory, moved forward as batches are checked.
 *
 * Holds one lease from the pool at a time; `release` ends it.
 */
export class LogWindow {
  readonly #file: DiskFile;
  readonly #kernel: ChecksumKernel;
  readonly #pool: BlockPool;
  readonly #partitionId: number;
  readonly #fileLength: number;
  #lease: Lease | undefined;
  #from = 0;
  #length = 0;

  /** @param fileLength  saves the read that finds out that a file ends */
  constructor(
    file: DiskFile,
    memory: { readonly kernel: ChecksumKernel; readonly pool: BlockPool },
    partitionId: number,
    fileLength = Number.MAX_SAFE_INTEGER,
  ) {
    this.#file = file;
    this.#kernel = memory.kernel;
    this.#pool = memory.pool;
    this.#partitionId = partitionId;
    this.#fileLength = fileLength;
  }

  /**
   * What `holds` answers, at once, when the window lies over those bytes already; nothing when it must move.
   */
  holdsNow(place: BatchPlace): boolean | undefined {
    const at = this.#positionOf(place.position, place.length);
    return at < 0 ? undefined : this.#isBatch(place, at);
  }

  /** True when the bytes `place` names are there, unharmed, and are the batch it names. */
  async holds(place: BatchPlace): Promise<boolean> {
    const at = await this.#load(place.position, place.length);
    return at >= 0 && this.#isBatch(place, at);
  }

  #isBatch(place: BatchPlace, at: number): boolean {
    if (this.#kernel.verifyBatch(at, place.length) !== undefined) return false;
    const { view } = this.#kernel.memory;
    return (
      batchChecksumAt(view, at) === place.checksum &&
      baseOffsetAt(view, at) === place.baseOffset &&
      messageCountAt(view, at) === place.count &&
      partitionIdAt(view, at) === this.#partitionId
    );
  }

  /**
   * The unharmed batch of this partition that starts at `position`, whatever its offset; nothing when none
   * does.
   */
  async batchAt(position: number, lengthMax: number): Promise<WindowBatch | undefined> {
    const header = await this.#load(position, BATCH_HEADER_LENGTH);
    if (header < 0) return undefined;
    const { view } = this.#kernel.memory;
    const length = batchLengthAt(view, header);
    if (length < BATCH_HEADER_LENGTH || length > lengthMax) return undefined;
    const at = await this.#load(position, length);
    if (at < 0 || this.#kernel.verifyBatch(at, length) !== undefined) return undefined;
    if (partitionIdAt(view, at) !== this.#partitionId) return undefined;
    const [baseOffset, count] = [baseOffsetAt(view, at), messageCountAt(view, at)];
    return { position, length, baseOffset, count, timestamp: baseTimestampAt(view, at) };
  }

  /**
   * Where the first wrong bytes lie of a batch that does not hold: its header, without the zeros that it must
   * begin with, or one of its frames. Nothing when the file ends before the batch does.
   */
  async wrongBytes(place: BatchPlace): Promise<ByteRange | undefined> {
    const at = await this.#load(place.position, place.length);
    if (at < 0) return undefined;
    const fault = this.#kernel.verifyBatch(at, place.length);
    if (fault === undefined || fault.index < 0) {
      const from = place.position + leadingZeros(this.#partitionId, place.baseOffset);
      return { from, to: place.position + BATCH_HEADER_LENGTH };
    }
    const { buffer } = this.#kernel.memory.view;
    const length = lengthOfFrame(new DataView(buffer, at, place.length), fault.position);
    return { from: place.position + fault.position, to: place.position + fault.position + length };
  }

  release(): void {
    this.#lease?.release();
    this.#lease = undefined;
    this.#length = 0;
  }

  /**
   * Position in the kernel's memory of `length` bytes of the file from `position` on; -1 when it ends before.
   */
  async #load(position: number, length: number): Promise<number> {
    const at = this.#positionOf(position, length);
    if (at >= 0) return at;
    await this.#move(position, length);
    return this.#positionOf(position, length);
  }

  #positionOf(position: number, length: number): number {
    const isHere = position >= this.#from && position + length <= this.#from + this.#length;
    return isHere && this.#lease !== undefined ? this.#lease.position + position - this.#from : -1;
  }

  async #move(position: number, length: number): Promise<void> {
    if (this.#lease === undefined || this.#lease.length < length) {
      this.release();
      this.#lease = await allocateWaiting(this.#pool, length);
    }
    this.#length = 0;
    const ahead = this.#lease.bytes.subarray(0, Math.max(0, this.#fileLength - position));
    this.#length = await readAt(this.#file, ahead, position);
    this.#from = position;
  }
}

/**
 * Zeros that the header of a batch begins with: it holds the partition's id and the base offset as u64 each,
 * low bytes first. Power loss cannot have taken a sector's worth of those.
 */
function leadingZeros(partitionId: number, baseOffset: number): number {
  return partitionId > 0 ? lowZeros(partitionId) : 8 + lowZeros(baseOffset);
}

/** Low bytes of a whole number that are zeros; 8 for 0. */
function lowZeros(value: number): number {
  let count = 0;
  for (let rest = value; count < 8 && rest % 256 === 0; rest /= 256) count += 1;
  return count;
}

/** Length a frame claims; that of its header when the claim cannot be true. */
function lengthOfFrame(batch: DataView, position: number): number {
  try {
    return frameLengthAt(batch, position);
  } catch (error) {
    if (!isWireError(error)) throw error;
    return FRAME_HEADER_LENGTH;
  }
}
