import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InvariantError } from "@millrace/errors";
import { fromHex, type GoldenCase, goldenCase, goldenCases, SeededRandom } from "@millrace/testkit";
import fc from "fast-check";
import { createXXHash3 } from "hash-wasm";
import { BATCH_HEADER_LENGTH } from "./batch-header.ts";
import { writeBatch } from "./batch-writer.ts";
import type { BatchFault, ChecksumKernel } from "./checksum/checksum-kernel.ts";
import { xxh3_64 } from "./checksum/xxh3.ts";
import { createChecksumKernel } from "./checksum.ts";
import { viewOf } from "./wide-integer.ts";

const kernels = (["simd", "scalar", "typescript"] as const).map((build) =>
  createChecksumKernel({ build, memoryLength: 2_097_152 }),
);
const simd = kernels[0] as ChecksumKernel;
const START = simd.memory.blocksStart;
const random = new SeededRandom(0x5eed);

function goldenInput(one: GoldenCase): Uint8Array {
  if (one.input.bytes_hex !== undefined) return fromHex(one.input.bytes_hex);
  const length = Number(/length (\d+)$/.exec(one.name)?.[1]);
  return Uint8Array.from({ length }, (_, index) => index % 256);
}

/** A sealed and stamped batch of messages of the given payload lengths. */
function batchOf(payloadLengths: readonly number[]): Uint8Array {
  const messages = payloadLengths.map((length, index) => ({
    id: BigInt(index + 1),
    payload: random.bytes(length),
    userHeaders: random.bytes(index % 3),
  }));
  const length = writeBatch(simd.memory.bytes, START, messages, 5000);
  simd.sealBatch(START, length);
  simd.stampBatch(START, 3, 100, 6000);
  return simd.memory.bytes.slice(START, START + length);
}

/** What each kernel says about `length` bytes of a batch at an odd position; all must say the same. */
function verdict(batch: Uint8Array, length: number = batch.byteLength): BatchFault | undefined {
  const position = START + 13;
  const verdicts = kernels.map((kernel) => {
    kernel.memory.bytes.fill(0xee, position, position + batch.byteLength + 64);
    kernel.memory.bytes.set(batch, position);
    return kernel.verifyBatch(position, length);
  });
  assert.deepEqual(verdicts[0], verdicts[2]);
  assert.deepEqual(verdicts[1], verdicts[2]);
  return verdicts[0];
}

/** The batch with other bytes at one place, and its checksums renewed so that they are not what is wrong. */
function damaged(batch: Uint8Array, at: number, bytes: readonly number[], reseal = false): Uint8Array {
  const changed = batch.slice();
  changed.set(bytes, at);
  if (!reseal) return changed;
  simd.memory.bytes.set(changed, START);
  simd.sealBatch(START, changed.byteLength);
  return simd.memory.bytes.slice(START, START + changed.byteLength);
}

describe("XXH3-64", () => {
  for (const one of goldenCases("xxh3_64")) {
    it(`of ${one.name} is the golden one in every build`, () => {
      const bytes = goldenInput(one);
      const expected = BigInt(one.expected.u64_decimal);
      assert.equal(xxh3_64(bytes), expected);
      for (const kernel of kernels) assert.equal(kernel.hashBytes(bytes), expected, kernel.build);
    });
  }

  it("is what an unrelated library gives, for many lengths and alignments", async () => {
    const oracle = await createXXHash3();
    const bytes = random.bytes(5000);
    const lengths = [...Array.from({ length: 1101 }, (_, length) => length), 2048, 2049];
    for (let length = 1200; length < 5000; length += 211) lengths.push(length);
    for (const length of lengths) {
      const input = bytes.subarray(0, length);
      const expected = BigInt(`0x${oracle.init().update(input).digest("hex")}`);
      assert.equal(xxh3_64(input), expected, `length ${length}`);
      const position = START + (length % 16);
      for (const kernel of kernels) {
        kernel.memory.bytes.set(input, position);
        assert.equal(kernel.hash64(position, length), expected, `${kernel.build}, length ${length}`);
        assert.equal(kernel.hashBytes(input), expected, `${kernel.build}, outside bytes, length ${length}`);
      }
    }
  });

  it("reads no byte behind the last one of the memory", () => {
    const bytes = random.bytes(1101);
    for (const kernel of kernels) {
      const { bytes: memory } = kernel.memory;
      for (let length = 0; length <= bytes.length; length++) {
        const input = bytes.subarray(0, length);
        memory.set(input, memory.length - length);
        assert.equal(kernel.hash64(memory.length - length, length), xxh3_64(input), kernel.build);
      }
    }
  });

  it("agrees between the builds on random bytes of 0 to 5000", () => {
    fc.assert(
      fc.property(fc.nat(5000), fc.nat(), (length, seed) => {
        const bytes = new SeededRandom(seed).bytes(length);
        const expected = xxh3_64(bytes);
        for (const kernel of kernels) assert.equal(kernel.hashBytes(bytes), expected, kernel.build);
      }),
      { numRuns: 60 },
    );
  });

  it("of bytes longer than the kernel's window is the same as in one piece", () => {
    const bytes = random.bytes(200_000);
    for (const length of [32_767, 32_768, 32_769, 33_792, 33_793, 65_536, 131_073, 200_000]) {
      const input = bytes.subarray(0, length);
      simd.memory.bytes.set(input, START);
      const inPlace = simd.hash64(START, length);
      for (const kernel of kernels)
        assert.equal(kernel.hashBytes(input), inPlace, `${kernel.build} ${length}`);
    }
  });

  it("hashes a view of the memory where it lies", () => {
    const view = simd.memory.bytes.subarray(START + 3, START + 900);
    assert.equal(simd.hashBytes(view), xxh3_64(view));
  });
});

describe("hashInto, copy and the scratch", () => {
  it("write what hash64 tells and move ranges that overlap, in every build", () => {
    for (const kernel of kernels) {
      const { view, bytes } = kernel.memory;
      const { position, length } = kernel.scratch;
      const content = random.bytes(length);
      bytes.set(content, position);
      kernel.hashInto(position, position + 8, 120);
      assert.equal(view.getBigUint64(position, true), xxh3_64(content.subarray(8, 128)), kernel.build);
      kernel.copy(position + 100, position + 40, 500);
      assert.deepEqual(bytes.slice(position + 100, position + 600), content.slice(40, 540), kernel.build);
      kernel.copy(position + 200, position + 210, 300);
      assert.deepEqual(bytes.slice(position + 200, position + 490), content.slice(150, 440), kernel.build);
    }
  });

  it("is left alone by whatever the kernel does", () => {
    const batch = batchOf(Array.from({ length: 6000 }, () => 3));
    for (const kernel of kernels) {
      const { position, length } = kernel.scratch;
      assert.equal(position % 8, 0);
      assert.ok(position + length <= kernel.memory.blocksStart);
      kernel.memory.bytes.fill(0xa5, position, position + length);
      kernel.memory.bytes.set(batch, START);
      kernel.sealBatch(START, batch.byteLength);
      kernel.stampBatch(START, 1, 2, 3);
      assert.equal(kernel.verifyBatch(START, batch.byteLength), undefined);
      kernel.hashBytes(random.bytes(100_000));
      const scratch = kernel.memory.bytes.subarray(position, position + length);
      assert.ok(scratch.every((byte) => byte === 0xa5), kernel.build); // biome-ignore format: one line
    }
  });

  it("refuse ranges outside the memory", () => {
    const end = simd.memory.bytes.byteLength;
    for (const kernel of kernels) {
      for (const mistake of [
        () => kernel.hashInto(end - 7, START, 8),
        () => kernel.hashInto(START, end - 7, 8),
        () => kernel.copy(end - 7, START, 8),
        () => kernel.copy(START, -1, 8),
      ]) {
        assert.throws(mistake, InvariantError, kernel.build);
      }
    }
  });
});

describe("verifyBatch", () => {
  const good = batchOf([11, 0, 300, 2000]);
  const last = good.byteLength - (48 + 2000);

  for (const one of goldenCases("batch")) {
    it(`finds nothing wrong with ${one.name}`, () => {
      assert.equal(verdict(fromHex(one.expected_hex ?? "")), undefined);
    });
  }

  it("refuses each golden negative with its code", () => {
    const expected: Record<string, BatchFault> = {
      "negative/payload_bit_flip": { code: 4027, index: 0, position: 256 },
      "negative/batch_checksum_wrong": { code: 4039, index: -1, position: 40 },
      "negative/batch_reserved_nonzero": { code: 3, index: -1, position: 52 },
    };
    const cases = goldenCases("negative");
    assert.equal(cases.length, Object.keys(expected).length);
    for (const one of cases) assert.deepEqual(verdict(fromHex(one.expected_hex ?? "")), expected[one.name]);
  });

  it("refuses each damage at its place", () => {
    assert.equal(verdict(good), undefined);
    const cases: readonly (readonly [string, Uint8Array, BatchFault])[] = [
      ["header cut off", good.subarray(0, 255), { code: 3, index: -1, position: 0 }],
      ["partition over 2^53", damaged(good, 7, [1]), { code: 3, index: -1, position: 0 }],
      ["offset over 2^53", damaged(good, 14, [0x20]), { code: 3, index: -1, position: 8 }],
      ["timestamp over 2^53", damaged(good, 23, [255]), { code: 3, index: -1, position: 16 }],
      ["origin over 2^53", damaged(good, 31, [255]), { code: 3, index: -1, position: 24 }],
      ["length over 2^53", damaged(good, 39, [255]), { code: 3, index: -1, position: 32 }],
      ["length under 256", damaged(good, 32, [255, 0, 0, 0]), { code: 3, index: -1, position: 32 }],
      ["length over the bytes", damaged(good, 34, [1]), { code: 3, index: -1, position: 32 }],
      ["reserved set", damaged(good, 255, [1]), { code: 3, index: -1, position: 52 }],
      ["frame's reserved set", damaged(good, 256 + 40, [1]), { code: 3, index: 0, position: 296 }],
      ["frame too long", damaged(good, last + 38, [1]), { code: 3, index: 3, position: last }],
      ["frame of 8 GiB", damaged(good, last + 32, Array(8).fill(255)), { code: 3, index: 3, position: last }],
      ["frame checksum", damaged(good, last, [1, 2, 3]), { code: 4027, index: 3, position: last }],
      ["payload flipped", good.with(-1, (good.at(-1) ?? 0) ^ 1), { code: 4027, index: 3, position: last }],
      ["count too low", damaged(good, 48, [3], true), { code: 3, index: -1, position: 48 }],
      ["count too high", damaged(good, 48, [5], true), { code: 3, index: -1, position: 48 }],
      ["batch checksum", damaged(good, 40, [1, 2, 3]), { code: 4039, index: -1, position: 40 }],
    ].map(([name, bytes, fault]) => [name, bytes, fault] as [string, Uint8Array, BatchFault]);
    for (const [name, bytes, fault] of cases) assert.deepEqual(verdict(bytes), fault, name);
  });

  it("refuses offset deltas that do not go up by one, checksums or not, from wherever they begin", () => {
    const second = 256 + 48 + 11;
    const place = { code: 3, index: 1, position: second + 24 } as const;
    for (const bytes of [[0], [2], [0, 1], [1, 0, 0, 1], [255, 255, 255, 255]]) {
      assert.deepEqual(verdict(damaged(good, second + 24, bytes, true)), place, `${bytes}`);
      assert.deepEqual(verdict(damaged(good, second + 24, bytes)), {
        ...place,
        code: 4027,
        position: second,
      });
    }
    assert.deepEqual(verdict(damaged(good, 256 + 24, [1], true)), place, "the first one begins the count");
    const frames = [256, second, second + 49, last];
    const moved = frames.reduce((batch, at, index) => damaged(batch, at + 24, [index + 70], true), good);
    assert.equal(verdict(moved), undefined, "a run out of the middle of a batch");
    assert.deepEqual(verdict(damaged(moved, last + 24, [3], true)), {
      code: 3,
      index: 3,
      position: last + 24,
    });
  });

  it("refuses a frame header cut off by the batch's end", () => {
    const cutOff = good.slice();
    viewOf(cutOff).setUint32(32, last + 20, true);
    assert.deepEqual(verdict(cutOff), { code: 3, index: 3, position: last });
  });

  it("refuses bytes after the batch, but only once everything in it was found good", () => {
    const longer = new Uint8Array(good.byteLength + 1);
    longer.set(good);
    assert.deepEqual(verdict(longer), { code: 3, index: -1, position: 32 });
    assert.equal(verdict(longer, good.byteLength), undefined);
    assert.deepEqual(verdict(damaged(longer, 40, [0, 0])), { code: 4039, index: -1, position: 40 });
  });

  it("refuses a batch without messages even when its checksum is right", () => {
    const empty = new Uint8Array(BATCH_HEADER_LENGTH);
    empty[33] = 1;
    assert.deepEqual(verdict(empty), { code: 4039, index: -1, position: 40 });
    assert.deepEqual(verdict(damaged(empty, 0, [3], true)), { code: 3, index: -1, position: 48 });
  });

  it("gives the same verdict in every build on mutated batches and on random bytes", () => {
    const change = fc.tuple(
      fc.oneof(fc.nat(good.byteLength - 1), fc.integer({ min: 256, max: 303 }), fc.nat(60)),
      fc.oneof(fc.constantFrom(0, 1, 255), fc.nat(255)),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 3 }), fc.nat(64), (changes, cut) => {
        const batch = good.slice(0, cut < 60 ? good.byteLength : good.byteLength - cut);
        for (const [at, byte] of changes) if (at < batch.byteLength) batch[at] = byte;
        const fault = verdict(batch);
        if (fault) assert.ok(fault.position >= 0 && fault.position <= batch.byteLength && fault.index < 4);
      }),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        assert.notEqual(verdict(bytes), undefined);
      }),
    );
  });

  it("gathers the checksums of more frames than the kernel's window holds", () => {
    const lastLength = 48 + 1 + (9000 % 3);
    const many = batchOf(Array.from({ length: 9001 }, () => 1));
    assert.equal(verdict(many), undefined);
    const flipped = many.with(-1, (many.at(-1) ?? 0) ^ 1);
    assert.deepEqual(verdict(flipped), { code: 4027, index: 9000, position: many.byteLength - lastLength });
  });
});

describe("sealBatch, stampBatch and sliceBatch", () => {
  it("write the same bytes in every build", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(700), { minLength: 1, maxLength: 12 }),
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
        (payloadLengths, first, second, baseOffset) => {
          const batch = batchOf(payloadLengths);
          const index = first % payloadLengths.length;
          const count = 1 + (second % (payloadLengths.length - index));
          const header = START + batch.byteLength + (first % 9);
          const results = kernels.map((kernel) => {
            const { bytes } = kernel.memory;
            bytes.set(batch, START);
            bytes.fill(0, START + BATCH_HEADER_LENGTH, START + BATCH_HEADER_LENGTH + 8);
            kernel.sealBatch(START, batch.byteLength);
            kernel.stampBatch(START, second, baseOffset, first);
            assert.equal(kernel.verifyBatch(START, batch.byteLength), undefined);
            const run = kernel.sliceBatch(START, index, count, header);
            return { run, bytes: bytes.slice(START, header + BATCH_HEADER_LENGTH) };
          });
          assert.deepEqual(results[0]?.run, results[2]?.run);
          assert.deepEqual(results[1], results[2]);
          const ours = results[0]?.bytes.subarray(0, batch.byteLength);
          assert.deepEqual(ours, results[2]?.bytes.subarray(0, batch.byteLength));
          const slicedHeader = results[0]?.bytes.subarray(header - START);
          assert.deepEqual(slicedHeader, results[2]?.bytes.subarray(header - START));
          assertSliceIsABatch(results[0]?.run ?? { start: 0, end: 0 }, header);
        },
      ),
      { numRuns: 40 },
    );
  });

  function assertSliceIsABatch(run: { start: number; end: number }, header: number): void {
    const { bytes } = simd.memory;
    const target = header + BATCH_HEADER_LENGTH;
    bytes.copyWithin(target, run.start, run.end);
    assert.equal(simd.verifyBatch(header, BATCH_HEADER_LENGTH + run.end - run.start), undefined);
  }

  it("refuse ranges outside the memory, runs outside the batch, and numbers no offset can be", () => {
    const end = simd.memory.bytes.byteLength;
    for (const kernel of kernels) {
      const good = fromHex(goldenCase("batch/committed_two_messages").expected_hex ?? "");
      kernel.memory.bytes.set(good, START);
      const mistakes: (() => unknown)[] = [
        () => kernel.verifyBatch(end - 100, 101),
        () => kernel.verifyBatch(-1, 300),
        () => kernel.hash64(end, 1),
        () => kernel.sealBatch(START, good.byteLength - 1),
        () => kernel.sliceBatch(START, 2, 1, START + 1000),
        () => kernel.sliceBatch(START, 1, 2, START + 1000),
        () => kernel.sliceBatch(START, 0, 0, START + 1000),
        () => kernel.stampBatch(START, 1, -1, 0),
        () => kernel.stampBatch(START, 1, 0, 2 ** 53),
        () => kernel.stampBatch(START, 0.5, 0, 0),
      ];
      for (const mistake of mistakes) assert.throws(mistake, InvariantError, `${kernel.build} ${mistake}`);
    }
  });
});

describe("a batch that was never verified", () => {
  it("stops whoever seals, stamps or slices it when its frames do not fill it", () => {
    const good = batchOf([10, 20]);
    const lengths = [255, good.byteLength - 1, good.byteLength + 20];
    const broken = [
      damaged(good, 256 + 36, [11]),
      ...lengths.map((length) => damaged(good, 32, [length, length >> 8])),
    ];
    for (const kernel of kernels) {
      for (const batch of broken) {
        kernel.memory.bytes.set(batch, START);
        const length = viewOf(batch).getUint32(32, true);
        assert.throws(() => kernel.sealBatch(START, length), InvariantError, kernel.build);
        assert.throws(() => kernel.stampBatch(START, 1, 2, 3), InvariantError, kernel.build);
        assert.throws(() => kernel.sliceBatch(START, 0, 3, START + 4096), InvariantError, kernel.build);
      }
    }
  });
});

describe("createChecksumKernel", () => {
  it("takes the SIMD build where it runs, and whole pages of memory", () => {
    const kernel = createChecksumKernel({ memoryLength: 100_000 });
    assert.equal(kernel.build, "simd");
    assert.equal(kernel.memory.bytes.byteLength, 131_072);
  });

  it("refuses a memory without room for blocks, and one whose end has no address", () => {
    assert.throws(() => createChecksumKernel({ memoryLength: 65_536 }), InvariantError);
    assert.throws(() => createChecksumKernel({ memoryLength: 2 ** 32 }), InvariantError);
  });
});
