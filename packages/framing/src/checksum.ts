import { assert, CodedError, ErrorCode } from "@millrace/errors";
import type { ChecksumKernel, KernelBuild, KernelMemory } from "./checksum/checksum-kernel.ts";
import { kernelModule, type MemorySharing, WASM_BUILDS, type WasmBuild } from "./checksum/kernel-module.ts";
import { TypeScriptKernel } from "./checksum/typescript-kernel.ts";
import { WasmKernel } from "./checksum/wasm-kernel.ts";
import { MESSAGE_LENGTH_MAX } from "./header-kind.ts";

/** One WebAssembly page, the unit in which memory comes. */
const PAGE_LENGTH = 65_536;
/**
 * Each kernel has a page: state, and the window it hashes scattered bytes through; the first also
 * constants.
 */
const KERNEL_OWN_LENGTH = PAGE_LENGTH;
/** 4 GiB less a page: an address one past the end must still be a u32. */
const MEMORY_LENGTH_MAX = 2 ** 32 - PAGE_LENGTH;

/**
 * A `WebAssembly.Memory` by what can be told of it everywhere: its own type comes with those of a browser,
 * which a program for Node alone need not have.
 */
export interface SharedMemory {
  readonly buffer: ArrayBufferLike;
}

/** A memory that several threads work on, each with a kernel of its own. */
export interface SharedKernelPlace {
  /** From `createSharedMemory`. */
  readonly memory: SharedMemory;
  /** Which of the kernels this one is, from 0; each number once. */
  readonly kernel: number;
  readonly kernelsCount: number;
}

/** How to make a kernel. */
export interface ChecksumKernelOptions {
  /**
   * Bytes, rounded up to whole pages of 64 KiB, reserved once and touched only as used. 64 MiB unless given.
   */
  readonly memoryLength?: number;
  /** In place of a memory of its own. All kernels over it agree on where blocks begin. */
  readonly shared?: SharedKernelPlace;
  /** Left out: the fastest that runs here, SIMD, scalar or TypeScript in this order. */
  readonly build?: KernelBuild;
}

/** A kernel and what it is over. */
interface KernelPlace {
  readonly memory: SharedMemory;
  /** First byte of the kernel's own page. */
  readonly base: number;
  readonly blocksStart: number;
}

/**
 * Makes a checksum kernel, synchronously, over a memory of its own or a shared one. The memory never grows.
 *
 * A process needs few: each WebAssembly memory takes several GiB of address space, whatever its length.
 * @throws CodedError MemoryExhausted when the memory cannot be had; FeatureUnavailable when `build` is named
 *                    and does not run here
 */
export function createChecksumKernel(options: ChecksumKernelOptions = {}): ChecksumKernel {
  const { shared } = options;
  const sharing = shared === undefined ? "alone" : "shared";
  const build =
    options.build ?? WASM_BUILDS.find((one) => kernelModule(one, sharing) !== undefined) ?? "typescript";
  const pages = pagesOf(options.memoryLength ?? MESSAGE_LENGTH_MAX);
  if (shared !== undefined) {
    const { memory, kernel, kernelsCount } = shared;
    const blocksStart = kernelsCount * KERNEL_OWN_LENGTH;
    assert(
      kernel < kernelsCount && blocksStart < memory.buffer.byteLength,
      "a kernel has a page in its memory",
    );
    const place = { memory, base: kernel * KERNEL_OWN_LENGTH, blocksStart } as const;
    return build === "typescript"
      ? new TypeScriptKernel(kernelMemory(place), place.base)
      : wasmKernel(build, sharing, () => place);
  }
  if (build !== "typescript") return wasmKernel(build, sharing, () => aloneOver(pages));
  const buffer = reserved(pages, () => new ArrayBuffer(pages * PAGE_LENGTH));
  return new TypeScriptKernel(kernelMemory({ memory: { buffer }, blocksStart: KERNEL_OWN_LENGTH }), 0);
}

/**
 * A memory for several threads, of whole pages; give it to each of them.
 * @throws CodedError MemoryExhausted when it cannot be had
 */
export function createSharedMemory(memoryLength: number): SharedMemory {
  const pages = pagesOf(memoryLength);
  return reserved(pages, () => new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }));
}

function pagesOf(length: number): number {
  const pages = Math.ceil(length / PAGE_LENGTH);
  const memoryLength = pages * PAGE_LENGTH;
  assert(
    memoryLength > KERNEL_OWN_LENGTH && memoryLength <= MEMORY_LENGTH_MAX,
    "a kernel's memory has room for blocks and is shorter than 4 GiB",
  );
  return pages;
}

function aloneOver(pages: number): KernelPlace {
  const memory = reserved(pages, () => new WebAssembly.Memory({ initial: pages, maximum: pages }));
  return { memory, base: 0, blocksStart: KERNEL_OWN_LENGTH };
}

function wasmKernel(build: WasmBuild, sharing: MemorySharing, reserve: () => KernelPlace): ChecksumKernel {
  const module = kernelModule(build, sharing);
  if (module === undefined) {
    throw new CodedError(
      ErrorCode.FeatureUnavailable,
      `The ${build} build of the checksum kernel cannot run here.`,
    );
  }
  const place = reserve();
  const imports = { env: { memory: place.memory as WebAssembly.Memory }, layout: { BASE: place.base } };
  return new WasmKernel(build, kernelMemory(place), place.base, new WebAssembly.Instance(module, imports));
}

function kernelMemory(place: {
  readonly memory: { readonly buffer: ArrayBufferLike };
  readonly blocksStart: number;
}): KernelMemory {
  const { buffer } = place.memory;
  const view = new DataView(buffer);
  const words = isLittleEndian() ? new BigUint64Array(buffer) : undefined;
  return { bytes: new Uint8Array(buffer), view, words, blocksStart: place.blocksStart };
}

function isLittleEndian(): boolean {
  return new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
}

function reserved<Memory>(pages: number, reserve: () => Memory): Memory {
  try {
    return reserve();
  } catch (cause) {
    const memoryLength = pages * PAGE_LENGTH;
    throw new CodedError(ErrorCode.MemoryExhausted, `There is no room for ${memoryLength} bytes of memory.`, {
      details: { memoryLength },
      cause,
    });
  }
}
