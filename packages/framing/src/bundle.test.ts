import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { ErrorCode } from "@millrace/errors";
import { build } from "esbuild";

/** A round through the package; its last value is the result. */
const ROUND = `
  const kernel = framing.createChecksumKernel({ memoryLength: 1048576 });
  const { bytes, blocksStart } = kernel.memory;
  const pair = [framing.typedField("string", "key"), framing.typedField("int8", 1)];
  const messages = [{ payload: framing.encodeTypedFields([pair]) }];
  const length = framing.writeBatch(bytes, blocksStart, messages, 1000);
  kernel.sealBatch(blocksStart, length);
  const cursor = new framing.FrameCursor(bytes, blocksStart);
  cursor.next();
  const [[key]] = framing.decodeTypedFields(cursor.payload);
  const isGood = kernel.verifyBatch(blocksStart, length) === undefined;
  JSON.stringify([kernel.build, isGood, framing.fieldValue(key)]);
`;

let bundle = "";

/** Evaluates code in a context that has only the language, WebAssembly, and what is given. */
function evaluate(code: string, given: Record<string, unknown> = {}): unknown {
  const context = createContext({ TextEncoder, TextDecoder, ...given });
  runInContext(bundle, context);
  return runInContext(code, context);
}

/** A WebAssembly that compiles only what `accepts` says; the modules are counted from 0. */
function picky(accepts: (module: number) => boolean): unknown {
  let modules = 0;
  class Module extends WebAssembly.Module {
    constructor(bytes: Uint8Array<ArrayBuffer>) {
      if (!accepts(modules++)) throw new WebAssembly.CompileError("not allowed here");
      super(bytes);
    }
  }
  return { Module, Memory: WebAssembly.Memory, Instance: WebAssembly.Instance };
}

describe("the package in a browser", () => {
  before(async () => {
    const result = await build({
      entryPoints: [fileURLToPath(new URL("./index.ts", import.meta.url))],
      bundle: true,
      write: false,
      platform: "browser",
      format: "iife",
      globalName: "framing",
      conditions: ["millrace-source"],
      logLevel: "silent",
    });
    assert.deepEqual(result.warnings, []);
    bundle = result.outputFiles[0]?.text ?? "";
  });

  it("is bundled without anything of Node, and runs without Node's globals", () => {
    assert.ok(!/["']node:|\brequire\(/.test(bundle));
    assert.equal(evaluate(ROUND), JSON.stringify(["simd", true, "key"]));
  });

  it("runs the scalar build where SIMD does not compile", () => {
    const result = evaluate(ROUND, { WebAssembly: picky((module) => module > 0) });
    assert.equal(result, JSON.stringify(["scalar", true, "key"]));
  });

  it("runs the TypeScript build where WebAssembly is missing or forbidden", () => {
    for (const given of [undefined, picky(() => false)]) {
      assert.equal(evaluate(ROUND, { WebAssembly: given }), JSON.stringify(["typescript", true, "key"]));
    }
  });

  it("says when the build asked for cannot run, and when there is no room for the memory", () => {
    const codeOf = (call: string): string => `try { ${call}; 0 } catch (error) { error.code }`;
    const named = codeOf(`framing.createChecksumKernel({ build: "simd" })`);
    assert.equal(evaluate(named, { WebAssembly: undefined }), ErrorCode.FeatureUnavailable);
    class Memory {
      constructor() {
        throw new RangeError("could not allocate memory");
      }
    }
    const { Module, Instance } = WebAssembly;
    const full = evaluate(codeOf("framing.createChecksumKernel()"), {
      WebAssembly: { Module, Instance, Memory },
    });
    assert.equal(full, ErrorCode.MemoryExhausted);
  });
});
