import { assert, CodedError, ErrorCode } from "@millrace/errors";
import type { ChecksumKernel, KernelBuild, KernelMemory } from "./checksum/checksum-kernel.ts";
import { kernelModule, WASM_BUILDS, type WasmBuild } from "./checksum/kernel-module.ts";
import { TypeScriptKernel } from "./checksum/typescript-kernel.ts";
import { WasmKernel } from "./checksum/wasm-kernel.ts";
import { MESSAGE_LENGTH_MAX } from "./header-kind.ts";

/** One WebAssembly page, the unit in which memory comes. */
const PAGE_LENGTH = 65_536;
/** The first page is the kernel's own: constants, state, and the window it hashes scattered bytes through. */
const KERNEL_OWN_LENGTH = PAGE_LENGTH;
/** 4 GiB less a page: an address one past the end must still be a u32. */
const MEMORY_LENGTH_MAX = 2 ** 32 - PAGE_LENGTH;

/** How to make a kernel. */
export interface ChecksumKernelOptions {
  /**
   * Bytes, rounded up to whole pages of 64 KiB, reserved once and touched only as used. 64 MiB unless given.
   */
  readonly memoryLength?: number;
  /** Left out: the fastest that runs here, SIMD, scalar or TypeScript in this order. */
  readonly build?: KernelBuild;
}

/**
 * Makes a checksum kernel with a memory of its own, synchronously. The memory never grows.
 *
 * A process needs few: each WebAssembly memory takes several GiB of address space, whatever its length.
 * @throws CodedError MemoryExhausted when the memory cannot be had; FeatureUnavailable when `build` is named
 *                    and does not run here
 */
export function createChecksumKernel(options: ChecksumKernelOptions = {}): ChecksumKernel {
  const pages = Math.ceil((options.memoryLength ?? MESSAGE_LENGTH_MAX) / PAGE_LENGTH);
  const memoryLength = pages * PAGE_LENGTH;
  assert(
    memoryLength > KERNEL_OWN_LENGTH && memoryLength <= MEMORY_LENGTH_MAX,
    "a kernel's memory has room for blocks and is shorter than 4 GiB",
  );
  const build = options.build ?? WASM_BUILDS.find((one) => kernelModule(one) !== undefined) ?? "typescript";
  if (build === "typescript") {
    return new TypeScriptKernel(memoryOver(reserved(memoryLength, () => new ArrayBuffer(memoryLength))));
  }
  return createWasmKernel(build, pages);
}

function createWasmKernel(build: WasmBuild, pages: number): ChecksumKernel {
  const module = kernelModule(build);
  if (module === undefined) {
    throw new CodedError(
      ErrorCode.FeatureUnavailable,
      `The ${build} build of the checksum kernel cannot run here.`,
    );
  }
  const memory = reserved(
    pages * PAGE_LENGTH,
    () => new WebAssembly.Memory({ initial: pages, maximum: pages }),
  );
  const instance = new WebAssembly.Instance(module, { env: { memory } });
  return new WasmKernel(build, memoryOver(memory.buffer), instance);
}

function memoryOver(buffer: ArrayBuffer): KernelMemory {
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer), blocksStart: KERNEL_OWN_LENGTH };
}

function reserved<Memory>(memoryLength: number, reserve: () => Memory): Memory {
  try {
    return reserve();
  } catch (cause) {
    throw new CodedError(ErrorCode.MemoryExhausted, `There is no room for ${memoryLength} bytes of memory.`, {
      details: { memoryLength },
      cause,
    });
  }
}
