// Verifying the checksums of 1000 messages of 256 bytes: one kernel call per batch against one library call
// per message. Prints ns per message and how many times faster than the library each build is. `pnpm bench`.
import { xxh3 } from "@node-rs/xxhash";
import {
  BATCH_HEADER_LENGTH,
  createChecksumKernel,
  FrameCursor,
  type KernelBuild,
  writeBatch,
} from "./index.ts";

const MESSAGES = 1000;
const PAYLOAD_LENGTH = 256;
/** Rounds of all contenders in turn, so that a noisy neighbour disturbs each of them; the median counts. */
const ROUNDS = 11;
const BATCHES_PER_ROUND = { simd: 400, scalar: 400, typescript: 1, library: 40 } as const;

interface Contender {
  readonly name: keyof typeof BATCHES_PER_ROUND;
  readonly verify: () => boolean;
  readonly nsPerMessage: number[];
}

function kernelContender(name: KernelBuild): Contender {
  const kernel = createChecksumKernel({ build: name });
  const { position, length } = sealedBatch(kernel);
  return { name, verify: () => kernel.verifyBatch(position, length) === undefined, nsPerMessage: [] };
}

/** What a program without the kernel does: walk the frames, ask the library for each. */
function libraryContender(): Contender {
  const kernel = createChecksumKernel();
  const { position } = sealedBatch(kernel);
  const { bytes } = kernel.memory;
  const verify = (): boolean => {
    const cursor = new FrameCursor(bytes, position);
    let good = true;
    while (cursor.next()) {
      const end = cursor.framePosition + cursor.frameLength;
      good &&= xxh3.xxh64(bytes.subarray(cursor.framePosition + 8, end)) === cursor.checksum;
    }
    return good;
  };
  return { name: "library", verify, nsPerMessage: [] };
}

function sealedBatch(kernel: ReturnType<typeof createChecksumKernel>): { position: number; length: number } {
  const payload = Uint8Array.from({ length: PAYLOAD_LENGTH }, (_, index) => index * 7);
  const messages = Array.from({ length: MESSAGES }, (_, index) => ({ payload, id: BigInt(index + 1) }));
  const position = kernel.memory.blocksStart + BATCH_HEADER_LENGTH;
  const length = writeBatch(kernel.memory.bytes, position, messages, 1_767_225_600_000_000);
  kernel.sealBatch(position, length);
  return { position, length };
}

function measure(contender: Contender): void {
  const batches = BATCHES_PER_ROUND[contender.name];
  const before = process.cpuUsage();
  for (let batch = 0; batch < batches; batch++) {
    if (!contender.verify()) throw new Error(`${contender.name} refuses a good batch`);
  }
  const used = process.cpuUsage(before);
  contender.nsPerMessage.push(((used.user + used.system) * 1000) / (batches * MESSAGES));
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const library = libraryContender();
const contenders = [
  kernelContender("simd"),
  kernelContender("scalar"),
  kernelContender("typescript"),
  library,
];
for (const contender of contenders) measure(contender); // Once to warm up, not counted.
for (const contender of contenders) contender.nsPerMessage.length = 0;
for (let round = 0; round < ROUNDS; round++) for (const contender of contenders) measure(contender);

const limit = median(library.nsPerMessage);
for (const { name, nsPerMessage } of contenders) {
  const ns = median(nsPerMessage);
  console.log(
    `${name.padEnd(10)} ${ns.toFixed(1).padStart(9)} ns a message ${(limit / ns).toFixed(2).padStart(7)}x`,
  );
}
