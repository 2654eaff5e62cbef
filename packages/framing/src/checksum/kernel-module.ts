import { assert } from "@millrace/errors";
import { SCALAR_KERNEL, SIMD_KERNEL } from "../kernel-bytes.table.ts";
import { decodeBase64 } from "./base64.ts";

/** The builds that are WebAssembly, fastest first. */
export const WASM_BUILDS = ["simd", "scalar"] as const;

/** One of the WebAssembly builds. */
export type WasmBuild = (typeof WASM_BUILDS)[number];

/** Memory of one thread, or of several. */
export type MemorySharing = "alone" | "shared";

const SOURCES: Readonly<Record<WasmBuild, string>> = { simd: SIMD_KERNEL, scalar: SCALAR_KERNEL };
const compiled = new Map<string, WebAssembly.Module | undefined>();

/**
 * The compiled module of a build, compiled at its first use; undefined where it cannot run: no WebAssembly,
 * no SIMD, a content security policy that forbids it, or a browser that compiles nothing synchronously.
 */
export function kernelModule(build: WasmBuild, sharing: MemorySharing): WebAssembly.Module | undefined {
  const key = `${build} ${sharing}`;
  if (!compiled.has(key)) compiled.set(key, compile(build, sharing));
  return compiled.get(key);
}

function compile(build: WasmBuild, sharing: MemorySharing): WebAssembly.Module | undefined {
  if (typeof WebAssembly !== "object") return undefined;
  const bytes = decodeBase64(SOURCES[build]);
  if (sharing === "shared") importShared(bytes);
  try {
    return new WebAssembly.Module(bytes);
  } catch {
    return undefined; // The next build is the answer; which one runs shows as `ChecksumKernel.build`.
  }
}

/** How the import of a memory with a maximum is written: its name, kind 2, flags 1. */
const MEMORY_IMPORT = [0x06, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79, 0x02, 0x01];
const FLAGS_SHARED = 0x03;

/**
 * Makes the module one over shared memory. The two differ in this bit alone: plain loads and stores are the
 * same, and what is handed from thread to thread goes by atomics outside of the kernel.
 * @see WebAssembly core specification with threads, binary format of limits
 */
function importShared(module: Uint8Array): void {
  const isAt = (start: number) => MEMORY_IMPORT.every((byte, index) => module[start + index] === byte);
  let start = 0;
  while (start < module.length && !isAt(start)) start++;
  assert(start < module.length, "the kernel imports its memory");
  module[start + MEMORY_IMPORT.length - 1] = FLAGS_SHARED;
}
