import { assert } from "@millrace/errors";
import { BATCH_HEADER_LENGTH, batchLengthAt } from "../batch-header.ts";
import type { KernelMemory, KernelRange } from "./checksum-kernel.ts";

const SCRATCH_START = 0x1000;
const SCRATCH_END = 0x7000;

/** The scratch of the kernel whose page begins at `base`, see `kernel/layout.ts`. */
export function scratchOf(base: number): KernelRange {
  return { position: base + SCRATCH_START, length: SCRATCH_END - SCRATCH_START };
}

/**
 * Stops unless the range lies inside a memory of `memoryLength` bytes. Every build asks this before it
 * touches a byte, and keeps that length: to ask an array for it takes 10 ns.
 */
export function assertInside(memoryLength: number, position: number, length: number): void {
  const inside = position >= 0 && length >= 0 && position + length <= memoryLength;
  assert(inside, "a range given to the kernel lies inside its memory");
}

/**
 * Stops unless the batch at `position` lies inside the memory with the length its header says; that length.
 */
export function assertBatchInside(memory: KernelMemory, memoryLength: number, position: number): number {
  assertInside(memoryLength, position, BATCH_HEADER_LENGTH);
  const batchLength = batchLengthAt(memory.view, position);
  assertInside(memoryLength, position, batchLength);
  assert(batchLength >= BATCH_HEADER_LENGTH, "a batch is at least as long as its header");
  return batchLength;
}

/** Stops unless each is a whole number 0..2^53-1, as everything the server counts is. */
export function assertCounters(partitionId: number, baseOffset: number, baseTimestamp: number): void {
  const counters = isCounter(partitionId) && isCounter(baseOffset) && isCounter(baseTimestamp);
  assert(counters, "what is stamped on a batch are whole numbers below 2^53");
}

function isCounter(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
