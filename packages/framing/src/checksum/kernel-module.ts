import { SCALAR_KERNEL, SIMD_KERNEL } from "../kernel-bytes.table.ts";
import { decodeBase64 } from "./base64.ts";

/** The builds that are WebAssembly, fastest first. */
export const WASM_BUILDS = ["simd", "scalar"] as const;

/** One of the WebAssembly builds. */
export type WasmBuild = (typeof WASM_BUILDS)[number];

const SOURCES: Readonly<Record<WasmBuild, string>> = { simd: SIMD_KERNEL, scalar: SCALAR_KERNEL };
const compiled = new Map<WasmBuild, WebAssembly.Module | undefined>();

/**
 * The compiled module of a build, compiled at its first use; undefined where it cannot run: no WebAssembly,
 * no SIMD, a content security policy that forbids it, or a browser that compiles nothing synchronously.
 */
export function kernelModule(build: WasmBuild): WebAssembly.Module | undefined {
  if (!compiled.has(build)) compiled.set(build, compile(build));
  return compiled.get(build);
}

function compile(build: WasmBuild): WebAssembly.Module | undefined {
  if (typeof WebAssembly !== "object") return undefined;
  try {
    return new WebAssembly.Module(decodeBase64(SOURCES[build]));
  } catch {
    return undefined; // The next build is the answer; which one runs shows as `ChecksumKernel.build`.
  }
}
