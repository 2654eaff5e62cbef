/** The one memory a kernel works on. Bytes before `blocksStart` are the kernel's own. */
export interface KernelMemory {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /**
   * The same as u64, for who writes many of them: a `DataView` takes six times as long for one. Absent where
   * the machine keeps them in another order than the memory, which is little-endian.
   */
  readonly words?: BigUint64Array | undefined;
  /** First byte free for blocks. */
  readonly blocksStart: number;
}

/** Bytes of the memory. */
export interface KernelRange {
  readonly position: number;
  readonly length: number;
}

/** Codes a bad batch is refused with: InvalidCommand, InvalidMessageChecksum, InvalidBatchChecksum. */
export const BatchFaultCode = { malformed: 3, frameChecksum: 4027, batchChecksum: 4039 } as const;

/**
 * What is wrong with a batch. `index` is the frame's, -1 for the header; `position` counts from the batch's
 * start.
 */
export interface BatchFault {
  readonly code: (typeof BatchFaultCode)[keyof typeof BatchFaultCode];
  readonly index: number;
  readonly position: number;
}

/** A run of frames, as absolute positions in the memory; `end` is the first byte after it. */
export interface FrameRun {
  readonly start: number;
  readonly end: number;
}

/** Which implementation runs. All give the same results. */
export type KernelBuild = "simd" | "scalar" | "typescript";

/**
 * Checksums over batches that lie in the kernel's memory, one call per batch.
 *
 * Positions and lengths are bytes in the memory; a range outside it is a mistake of the caller. Nothing is
 * allocated per message, and nobody else may write the range meanwhile.
 */
export interface ChecksumKernel {
  readonly build: KernelBuild;
  readonly memory: KernelMemory;
  /**
   * A range of the memory for what is built, hashed and copied away within one call; its content is anybody's
   * afterwards. Starts at a multiple of 8, and the kernel itself leaves it alone.
   */
  readonly scratch: KernelRange;
  /**
   * Walks the batch at `position`, of which `length` bytes are there; undefined means good.
   *
   * In this order, first failure wins: header complete, its u64 below 2^53, length, reserved bytes; then
   * frame by frame the header, reserved bytes, bounds, checksum, and an offset delta one above that of the
   * frame before; then the count, the batch checksum, a count above 0; last, the batch must end exactly at
   * `length`. The first delta may be any: a run cut out of a batch begins in its middle.
   * @see Iggy 0.9.0 wire protocol, validation of SendMessages; numbers from 2^53 on and offset deltas that
   *      leave their order are refused by us only (ADR 0030)
   */
  verifyBatch(position: number, length: number): BatchFault | undefined;
  /** Fills every frame's checksum and the batch checksum of a batch made by `writeBatch`. */
  sealBatch(position: number, length: number): void;
  /**
   * Writes the server's fields into the header of a verified or sealed batch and renews its batch checksum.
   */
  stampBatch(position: number, partitionId: number, baseOffset: number, baseTimestamp: number): void;
  /**
   * Makes the header of a shorter batch: the run of `count` frames from frame `index` on, of the verified
   * batch at `position`. The 256 bytes go to `headerPosition`; the frames stay where they are.
   */
  sliceBatch(position: number, index: number, count: number, headerPosition: number): FrameRun;
  /** XXH3-64 of a range of the memory. */
  hash64(position: number, length: number): bigint;
  /** Writes the XXH3-64 of a range as a little-endian u64 at `target`. */
  hashInto(target: number, position: number, length: number): void;
  /** Copies a range to `target`; they may overlap. */
  copy(target: number, position: number, length: number): void;
  /** XXH3-64 of any bytes; those outside the memory are copied through it piece by piece. */
  hashBytes(bytes: Uint8Array): bigint;
}
