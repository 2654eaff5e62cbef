import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { batchLengthOf, createChecksumKernel, createSharedMemory, writeBatch, xxh3_64 } from "./index.ts";

const MIB = 1024 * 1024;
const memory = createSharedMemory(4 * MIB);
const kernelsCount = 3;
const INDEX = JSON.stringify(new URL("./index.ts", import.meta.url).href);
const kernelOf = (kernel: number, build?: "scalar" | "typescript") =>
  createChecksumKernel({
    shared: { memory, kernel, kernelsCount },
    ...(build === undefined ? {} : { build }),
  });

describe("kernels over shared memory", () => {
  it("agree on where blocks begin and on every checksum, whichever build they are", () => {
    const kernels = [kernelOf(0), kernelOf(1, "scalar"), kernelOf(2, "typescript")];
    const messages = Array.from({ length: 50 }, (_, at) => ({ payload: new Uint8Array(at * 13).fill(at) }));
    const length = batchLengthOf(messages);
    for (const [at, kernel] of kernels.entries()) {
      const { bytes, blocksStart } = kernel.memory;
      assert.equal(blocksStart, kernelsCount * 65_536);
      assert.ok(bytes.buffer instanceof SharedArrayBuffer);
      const position = blocksStart + at * MIB;
      writeBatch(bytes, position, messages, 7);
      kernel.sealBatch(position, length);
      for (const other of kernels) assert.equal(other.verifyBatch(position, length), undefined);
      const text = new TextEncoder().encode("from the heap");
      assert.equal(kernel.hashBytes(text), xxh3_64(text));
    }
  });

  it("do not disturb each other when several threads hash at once", { timeout: 60_000 }, async () => {
    const kernel = kernelOf(0);
    const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at * 31);
    const expected = xxh3_64(bytes);
    const workers = [1, 2].map((own) => hashInWorker(own, bytes));
    let isOver = false;
    const done = Promise.all(workers).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      for (let round = 0; round < 20; round++) assert.equal(kernel.hashBytes(bytes), expected);
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const hashes of await done) assert.deepEqual(hashes, [expected]);
  });
});

/** The different results of hashing the same bytes many times with a kernel of a worker's own. */
function hashInWorker(kernel: number, bytes: Uint8Array): Promise<bigint[]> {
  const source = `
    import { register } from ${JSON.stringify(import.meta.resolve("tsx/esm/api"))};
    import { parentPort, workerData } from "node:worker_threads";
    register();
    const { createChecksumKernel } = await import(${INDEX});
    const { memory, kernel, kernelsCount, bytes } = workerData;
    const own = createChecksumKernel({ shared: { memory, kernel, kernelsCount } });
    const found = new Set();
    for (let round = 0; round < 500; round++) found.add(own.hashBytes(bytes));
    parentPort.postMessage([...found]);
  `;
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const worker = new Worker(url, { workerData: { memory, kernel, kernelsCount, bytes } });
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}
