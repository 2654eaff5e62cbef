import { assert } from "@millrace/errors";
import type { ChecksumKernel, KernelBuild, KernelMemory } from "./checksum/checksum-kernel.ts";
import { TypeScriptKernel } from "./checksum/typescript-kernel.ts";
import { MESSAGE_LENGTH_MAX } from "./header-kind.ts";

/** The first 64 KiB, one WebAssembly page, are the kernel's own: constants, state, and the window it hashes through. */
export const KERNEL_OWN_LENGTH = 65_536;

/** How to make a kernel. `memoryLength` is allocated once, in whole pages of 64 KiB, and touched only as used. */
export interface ChecksumKernelOptions {
  /** Default 64 MiB; at most 4 GiB less a page. */
  readonly memoryLength?: number;
  /** Left out: the fastest build that runs here. */
  readonly build?: KernelBuild;
}

/**
 * Makes a checksum kernel and its memory, synchronously.
 */
export function createChecksumKernel(options: ChecksumKernelOptions = {}): ChecksumKernel {
  const memoryLength = options.memoryLength ?? MESSAGE_LENGTH_MAX;
  assert(memoryLength > KERNEL_OWN_LENGTH, "a kernel's memory is longer than the kernel's own part");
  return new TypeScriptKernel(memoryOver(new ArrayBuffer(memoryLength)));
}

function memoryOver(buffer: ArrayBuffer): KernelMemory {
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer), blocksStart: KERNEL_OWN_LENGTH };
}
