import { assert } from "@millrace/errors";
import { BATCH_AT, BATCH_HEADER_LENGTH, batchLengthAt, messageCountAt } from "../batch-header.ts";
import { FRAME_AT, FRAME_HEADER_LENGTH, offsetDeltaAt } from "../frame-header.ts";
import { setU64Number, u64NumberAt, viewOf } from "../wide-integer.ts";
import {
  type BatchFault,
  BatchFaultCode,
  type ChecksumKernel,
  type FrameRun,
  type KernelMemory,
  type KernelRange,
} from "./checksum-kernel.ts";
import { assertBatchInside, assertCounters, assertInside, scratchOf } from "./kernel-range.ts";
import { xxh3_64 } from "./xxh3.ts";

/** Header bytes under the batch checksum (up to the checksum itself), then the u32 count. */
const COVERED_LENGTH = BATCH_AT.batchChecksum + 4;
const HASH_LENGTH = 8;
const SAFE_FIELDS = [
  BATCH_AT.partitionId,
  BATCH_AT.baseOffset,
  BATCH_AT.baseTimestamp,
  BATCH_AT.originTimestamp,
  BATCH_AT.batchLength,
] as const;

/**
 * The kernel in plain TypeScript: the oracle in tests, and the last resort where WebAssembly is not allowed.
 *
 * Follows `ChecksumKernel` to the letter, some hundred times slower than the WebAssembly builds.
 */
export class TypeScriptKernel implements ChecksumKernel {
  readonly build = "typescript";
  readonly memory: KernelMemory;
  readonly scratch: KernelRange;
  readonly #length: number;

  /** @param base  where its own page begins */
  constructor(memory: KernelMemory, base: number) {
    this.memory = memory;
    this.#length = memory.bytes.byteLength;
    this.scratch = scratchOf(base);
  }

  verifyBatch(position: number, length: number): BatchFault | undefined {
    assertInside(this.#length, position, length);
    const headerFault = this.#headerFault(position, length);
    if (headerFault) return headerFault;

    const batchLength = batchLengthAt(this.memory.view, position);
    let at = BATCH_HEADER_LENGTH;
    let index = 0;
    let firstDelta = 0;
    for (; at < batchLength; index++) {
      const fault = this.#frameFault(position + at, batchLength - at);
      if (fault) return { code: fault.code, index, position: at + fault.position };
      const delta = offsetDeltaAt(this.memory.view, position + at);
      if (index === 0) firstDelta = delta;
      else if (delta !== (firstDelta + index) >>> 0) return malformed(index, at + FRAME_AT.offsetDelta);
      at += this.#frameLength(position + at);
    }
    return this.#wholeFault(position, length, index);
  }

  sealBatch(position: number, length: number): void {
    const { view } = this.memory;
    assert(
      assertBatchInside(this.memory, this.#length, position) === length,
      "a batch to seal is as long as its header says",
    );
    for (const at of this.#frames(position)) {
      view.setBigUint64(at + FRAME_AT.checksum, this.#frameChecksum(at), true);
    }
    this.#renewBatchChecksum(position);
  }

  stampBatch(position: number, partitionId: number, baseOffset: number, baseTimestamp: number): void {
    assertCounters(partitionId, baseOffset, baseTimestamp);
    assertBatchInside(this.memory, this.#length, position);
    const { view } = this.memory;
    setU64Number(view, position + BATCH_AT.partitionId, partitionId);
    setU64Number(view, position + BATCH_AT.baseOffset, baseOffset);
    setU64Number(view, position + BATCH_AT.baseTimestamp, baseTimestamp);
    this.#renewBatchChecksum(position);
  }

  sliceBatch(position: number, index: number, count: number, headerPosition: number): FrameRun {
    assertBatchInside(this.memory, this.#length, position);
    assertInside(this.#length, headerPosition, BATCH_HEADER_LENGTH);
    const { bytes, view } = this.memory;
    const run = this.#frames(position).slice(index, index + count);
    const [start, last] = [run[0], run.at(-1)];
    assert(
      start !== undefined && last !== undefined && run.length === count,
      "a slice lies inside its batch",
    );
    const end = last + this.#frameLength(last);

    bytes.copyWithin(headerPosition, position, position + BATCH_HEADER_LENGTH);
    setU64Number(view, headerPosition + BATCH_AT.batchLength, BATCH_HEADER_LENGTH + end - start);
    view.setUint32(headerPosition + BATCH_AT.messageCount, count, true);
    view.setBigUint64(
      headerPosition + BATCH_AT.batchChecksum,
      this.#batchChecksum(headerPosition, run),
      true,
    );
    return { start, end };
  }

  hash64(position: number, length: number): bigint {
    assertInside(this.#length, position, length);
    return xxh3_64(this.memory.bytes.subarray(position, position + length));
  }

  hashInto(target: number, position: number, length: number): void {
    assertInside(this.#length, target, HASH_LENGTH);
    this.memory.view.setBigUint64(target, this.hash64(position, length), true);
  }

  copy(target: number, position: number, length: number): void {
    assertInside(this.#length, position, length);
    assertInside(this.#length, target, length);
    this.memory.bytes.copyWithin(target, position, position + length);
  }

  hashBytes(bytes: Uint8Array): bigint {
    return xxh3_64(bytes);
  }

  #headerFault(position: number, length: number): BatchFault | undefined {
    if (length < BATCH_HEADER_LENGTH) return malformed(-1, 0);
    const { bytes, view } = this.memory;
    for (const field of SAFE_FIELDS) {
      if (u64NumberAt(view, position + field) > Number.MAX_SAFE_INTEGER) return malformed(-1, field);
    }
    const batchLength = batchLengthAt(view, position);
    if (batchLength < BATCH_HEADER_LENGTH) return malformed(-1, BATCH_AT.batchLength);
    const reserved = bytes.subarray(position + BATCH_AT.reserved, position + BATCH_HEADER_LENGTH);
    if (reserved.some((byte) => byte !== 0)) return malformed(-1, BATCH_AT.reserved);
    return batchLength > length ? malformed(-1, BATCH_AT.batchLength) : undefined;
  }

  /** Faults of one frame; `position` counts from the frame's start, `index` is the caller's to fill in. */
  #frameFault(at: number, available: number): BatchFault | undefined {
    if (available < FRAME_HEADER_LENGTH) return malformed(0, 0);
    const { view } = this.memory;
    if (view.getBigUint64(at + FRAME_AT.reserved, true) !== 0n) return malformed(0, FRAME_AT.reserved);
    if (this.#frameLength(at) > available) return malformed(0, 0);
    const stored = view.getBigUint64(at + FRAME_AT.checksum, true);
    if (stored === this.#frameChecksum(at)) return undefined;
    return { code: BatchFaultCode.frameChecksum, index: 0, position: 0 };
  }

  /** Faults that show only after the walk over all frames. */
  #wholeFault(position: number, length: number, frameCount: number): BatchFault | undefined {
    const { view } = this.memory;
    if (messageCountAt(view, position) !== frameCount) return malformed(-1, BATCH_AT.messageCount);
    const stored = view.getBigUint64(position + BATCH_AT.batchChecksum, true);
    if (stored !== this.#batchChecksum(position, this.#frames(position))) {
      return { code: BatchFaultCode.batchChecksum, index: -1, position: BATCH_AT.batchChecksum };
    }
    if (frameCount === 0) return malformed(-1, BATCH_AT.messageCount);
    return batchLengthAt(view, position) === length ? undefined : malformed(-1, BATCH_AT.batchLength);
  }

  /** Positions in the memory of every frame of a batch that its frames fill. */
  #frames(position: number): number[] {
    const end = position + batchLengthAt(this.memory.view, position);
    const frames: number[] = [];
    let at = position + BATCH_HEADER_LENGTH;
    while (at < end) {
      assert(end - at >= FRAME_HEADER_LENGTH, "the frames of a batch fill it");
      frames.push(at);
      at += this.#frameLength(at);
    }
    assert(at === end, "the frames of a batch fill it");
    return frames;
  }

  #frameLength(at: number): number {
    const { view } = this.memory;
    const payloadLength = view.getUint32(at + FRAME_AT.payloadLength, true);
    return FRAME_HEADER_LENGTH + payloadLength + view.getUint32(at + FRAME_AT.userHeadersLength, true);
  }

  #frameChecksum(at: number): bigint {
    return this.hash64(at + FRAME_AT.id, this.#frameLength(at) - FRAME_AT.id);
  }

  #renewBatchChecksum(position: number): void {
    const checksum = this.#batchChecksum(position, this.#frames(position));
    this.memory.view.setBigUint64(position + BATCH_AT.batchChecksum, checksum, true);
  }

  /** Checksum of the header at `headerPosition` over the given frames. */
  #batchChecksum(headerPosition: number, frames: readonly number[]): bigint {
    const { bytes, view } = this.memory;
    const covered = new Uint8Array(COVERED_LENGTH + 8 * frames.length);
    covered.set(bytes.subarray(headerPosition, headerPosition + BATCH_AT.batchChecksum));
    const target = viewOf(covered);
    target.setUint32(BATCH_AT.batchChecksum, messageCountAt(view, headerPosition), true);
    for (const [index, at] of frames.entries()) {
      target.setBigUint64(COVERED_LENGTH + 8 * index, view.getBigUint64(at + FRAME_AT.checksum, true), true);
    }
    return xxh3_64(covered);
  }
}

function malformed(index: number, position: number): BatchFault {
  return { code: BatchFaultCode.malformed, index, position };
}
