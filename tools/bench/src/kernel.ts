import { createRequire } from "node:module";
import { createChecksumKernel, writeBatch } from "@millrace/framing";
import { median } from "./process-usage.ts";

const MESSAGES = 1000;
const PAYLOAD_LENGTH = 256;
const FRAME_LENGTH = 48 + PAYLOAD_LENGTH;
const REPEATS = 400;

/** Nanoseconds per message of the kernel's batch walk and of one library call per message. */
export interface KernelReport {
  readonly kernelNanos: number;
  readonly libraryNanos: number;
  readonly ratio: number;
  readonly build: string;
}

/** CPU time, for others may take the core meanwhile. */
function nanosPerMessage(work: () => void): number {
  const before = process.cpuUsage();
  for (let at = 0; at < REPEATS; at++) work();
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / REPEATS / MESSAGES;
}

/**
 * Verifies a batch of 1000 x 256 B with the kernel and with `@node-rs/xxhash`, one call a message, in turns.
 */
export function benchKernel(rounds: number): KernelReport {
  const { xxh3 } = createRequire(import.meta.url)("@node-rs/xxhash") as {
    xxh3: { xxh64(bytes: Buffer): bigint };
  };
  const kernel = createChecksumKernel({ memoryLength: 64 << 20 });
  const { bytes, blocksStart: at } = kernel.memory;
  const messages = Array.from({ length: MESSAGES }, (_, id) => {
    return { id: BigInt(id + 1), payload: new Uint8Array(PAYLOAD_LENGTH).fill(id), originTimestamp: 1 };
  });
  const length = writeBatch(bytes, at, messages, 1);
  kernel.sealBatch(at, length);
  const buffer = Buffer.from(bytes.buffer, at, length);
  const verifyWithKernel = () => {
    if (kernel.verifyBatch(at, length) !== undefined) throw new Error("the kernel refuses a good batch");
  };
  const verifyWithLibrary = () => {
    for (let frame = 256; frame < length; frame += FRAME_LENGTH) {
      const expected = buffer.readBigUInt64LE(frame);
      const hash = xxh3.xxh64(buffer.subarray(frame + 8, frame + FRAME_LENGTH));
      if (hash !== expected) throw new Error("the library disagrees");
    }
  };
  for (const warmUp of [verifyWithKernel, verifyWithLibrary]) nanosPerMessage(warmUp);
  const runs = Array.from({ length: rounds }, () => [
    nanosPerMessage(verifyWithKernel),
    nanosPerMessage(verifyWithLibrary),
  ]);
  const [kernelNanos, libraryNanos] = [0, 1].map((column) =>
    median(runs.map((run) => run[column] ?? Number.NaN)),
  );
  const [ours = Number.NaN, theirs = Number.NaN] = [kernelNanos, libraryNanos];
  return { kernelNanos: ours, libraryNanos: theirs, ratio: theirs / ours, build: kernel.build };
}
