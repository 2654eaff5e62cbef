import { assert } from "@millrace/errors";
import { BATCH_HEADER_LENGTH } from "../batch-header.ts";
import type { BatchFault, ChecksumKernel, FrameRun, KernelMemory, KernelRange } from "./checksum-kernel.ts";
import type { WasmBuild } from "./kernel-module.ts";
import { assertBatchInside, assertCounters, assertInside, scratchOf } from "./kernel-range.ts";

/**
 * Bytes that are copied to be hashed wherever they lie: asking an array for its buffer may take 100 ns,
 * copying so few of them 30.
 */
const COPIED_LENGTH_MAX = 1024;
const HASH_LENGTH = 8;

/** What `kernel/index.ts` exports. Addresses and counts are u32, hashes i64. */
interface KernelExports {
  readonly faultIndex: { readonly value: number };
  readonly faultPosition: { readonly value: number };
  readonly runStart: { readonly value: number };
  readonly runEnd: { readonly value: number };
  verifyBatch(position: number, length: number): number;
  sealBatch(position: number): number;
  stampBatch(position: number, partitionId: number, baseOffset: number, baseTimestamp: number): number;
  sliceBatch(position: number, index: number, count: number, header: number): number;
  hash(position: number, length: number): bigint;
  hashInto(target: number, position: number, length: number): void;
  copy(target: number, position: number, length: number): void;
  openWindow(): void;
  windowPosition(): number;
  windowRoom(): number;
  advanceWindow(length: number): void;
  closeWindow(): bigint;
}

/**
 * The kernel in WebAssembly. Checks every range against the memory, so that the WebAssembly code need not.
 */
export class WasmKernel implements ChecksumKernel {
  readonly build: WasmBuild;
  readonly memory: KernelMemory;
  readonly scratch: KernelRange;
  readonly #length: number;
  readonly #exports: KernelExports;
  readonly #buffer: ArrayBufferLike;
  readonly #windowStart: number;
  readonly #windowLength: number;

  /** @param instance  an instance of the kernel's module over the same memory, its page at `base` */
  constructor(build: WasmBuild, memory: KernelMemory, base: number, instance: WebAssembly.Instance) {
    this.build = build;
    this.memory = memory;
    this.#length = memory.bytes.byteLength;
    this.scratch = scratchOf(base);
    this.#buffer = memory.bytes.buffer;
    this.#exports = instance.exports as unknown as KernelExports;
    this.#exports.openWindow();
    this.#windowStart = this.#exports.windowPosition();
    this.#windowLength = this.#exports.windowRoom();
  }

  verifyBatch(position: number, length: number): BatchFault | undefined {
    assertInside(this.#length, position, length);
    const code = this.#exports.verifyBatch(position, length);
    if (code === 0) return undefined;
    return {
      code: code as BatchFault["code"],
      index: this.#exports.faultIndex.value,
      position: this.#exports.faultPosition.value >>> 0,
    };
  }

  sealBatch(position: number, length: number): void {
    assert(
      assertBatchInside(this.memory, this.#length, position) === length,
      "a batch to seal is as long as its header says",
    );
    assert(this.#exports.sealBatch(position) === 0, "the frames of a batch to seal fill it");
  }

  stampBatch(position: number, partitionId: number, baseOffset: number, baseTimestamp: number): void {
    assertCounters(partitionId, baseOffset, baseTimestamp);
    assertBatchInside(this.memory, this.#length, position);
    const code = this.#exports.stampBatch(position, partitionId, baseOffset, baseTimestamp);
    assert(code === 0, "the frames of a batch to stamp fill it");
  }

  sliceBatch(position: number, index: number, count: number, headerPosition: number): FrameRun {
    assertBatchInside(this.memory, this.#length, position);
    assertInside(this.#length, headerPosition, BATCH_HEADER_LENGTH);
    const code = count > 0 ? this.#exports.sliceBatch(position, index, count, headerPosition) : -1;
    assert(code === 0, "a slice lies inside its batch");
    return { start: this.#exports.runStart.value >>> 0, end: this.#exports.runEnd.value >>> 0 };
  }

  hash64(position: number, length: number): bigint {
    assertInside(this.#length, position, length);
    return BigInt.asUintN(64, this.#exports.hash(position, length));
  }

  hashInto(target: number, position: number, length: number): void {
    assertInside(this.#length, position, length);
    assertInside(this.#length, target, HASH_LENGTH);
    this.#exports.hashInto(target, position, length);
  }

  copy(target: number, position: number, length: number): void {
    assertInside(this.#length, position, length);
    assertInside(this.#length, target, length);
    this.#exports.copy(target, position, length);
  }

  hashBytes(bytes: Uint8Array): bigint {
    const isLong = bytes.byteLength > COPIED_LENGTH_MAX;
    if (isLong && bytes.buffer === this.#buffer) return this.hash64(bytes.byteOffset, bytes.byteLength);
    if (bytes.byteLength > this.#windowLength) return this.#hashThroughWindow(bytes);
    this.memory.bytes.set(bytes, this.#windowStart);
    return this.hash64(this.#windowStart, bytes.byteLength);
  }

  /** Bytes longer than the window go through it piece by piece. */
  #hashThroughWindow(bytes: Uint8Array): bigint {
    this.#exports.openWindow();
    for (let done = 0; done < bytes.byteLength; ) {
      const end = Math.min(done + this.#exports.windowRoom(), bytes.byteLength);
      this.memory.bytes.set(bytes.subarray(done, end), this.#exports.windowPosition());
      this.#exports.advanceWindow(end - done);
      done = end;
    }
    return BigInt.asUintN(64, this.#exports.closeWindow());
  }
}
