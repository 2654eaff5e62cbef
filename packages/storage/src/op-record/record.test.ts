import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { createChecksumKernel } from "@millrace/framing";
import fc from "fast-check";
import type { RememberedRequest } from "../requests/remembered-request.ts";
import { decodeCheckpoint, encodeCheckpoint, lengthFromTrailer, TRAILER_LENGTH } from "./checkpoint.ts";
import {
  claimedRecordLength,
  RECORD_HEADER_LENGTH,
  RecordKind,
  readRecord,
  recordLength,
  sealRecord,
  writeBatchPlace,
  writeRecordHeader,
} from "./record.ts";
import { decodeSmallOperation } from "./small-operation.ts";
import { viewOver } from "./u64-field.ts";

const kernel = createChecksumKernel({ memoryLength: 1_048_576 });

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const header = fc.record(
  {
    op: fc.maxSafeNat(),
    view: u32,
    parent: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    checksum: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    operation: fc.integer({ min: 0, max: 255 }),
    client: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
    request: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    user: u32,
    timestamp: fc.maxSafeNat(),
  },
  { noNullPrototype: true },
);
const place = fc.record(
  {
    position: fc.maxSafeNat(),
    length: u32,
    baseOffset: fc.maxSafeNat(),
    count: u32,
    checksum: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  },
  { noNullPrototype: true },
);

type Header = Parameters<typeof writeRecordHeader>[2];

function encode(head: Header, body: Uint8Array, commit = 0): Uint8Array {
  const length = recordLength(body.length);
  const bytes = new Uint8Array(length);
  const view = viewOver(bytes);
  writeRecordHeader(view, 0, head, { kind: RecordKind.operation, bodyLength: body.length, commit });
  bytes.set(body, RECORD_HEADER_LENGTH);
  sealRecord(kernel, bytes, view, { position: 0, length });
  return bytes;
}

const HEAD: Header = {
  op: 5,
  view: 1,
  parent: 2n,
  checksum: 3n,
  operation: 161,
  client: 4n,
  request: 5n,
  user: 6,
  timestamp: 7,
};

describe("an op record", () => {
  it("reads back as what was written", () => {
    const property = fc.property(
      header,
      fc.uint8Array({ maxLength: 100 }),
      fc.maxSafeNat(),
      (head, body, commit) => {
        const bytes = encode(head, body, commit);
        const record = readRecord(kernel, bytes, viewOver(bytes), 0);
        assert.deepEqual(record?.header, head);
        assert.deepEqual(record?.body, body);
        assert.deepEqual([record?.commit, record?.length], [commit, bytes.length]);
      },
    );
    fc.assert(property, { numRuns: 200 });
  });

  it("names the place of its batch", () => {
    fc.assert(
      fc.property(header, place, (head, where) => {
        const bytes = new Uint8Array(RECORD_HEADER_LENGTH);
        const view = viewOver(bytes);
        writeRecordHeader(view, 0, head, { kind: RecordKind.batch, bodyLength: 0, commit: 0 });
        writeBatchPlace(view, 0, where, where.position);
        sealRecord(kernel, bytes, view, { position: 0, length: bytes.length });
        assert.deepEqual(readRecord(kernel, bytes, view, 0)?.place, where);
      }),
      { numRuns: 100 },
    );
  });

  it("with any flipped bit is no record", () => {
    const bytes = encode(HEAD, new Uint8Array([1, 2, 3]));
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = bytes.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.equal(readRecord(kernel, flipped, viewOver(flipped), 0), undefined, `bit ${bit}`);
    }
  });

  it("cut anywhere, or made of random bytes, is no record", () => {
    const bytes = encode(HEAD, new Uint8Array(40));
    for (let length = 0; length < bytes.length; length += 1) {
      const cut = bytes.subarray(0, length);
      assert.equal(readRecord(kernel, cut, viewOver(cut), 0), undefined);
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (random) => {
        assert.equal(readRecord(kernel, random, viewOver(random), 0), undefined);
      }),
    );
  });

  it("claims no length beyond the limit", () => {
    const bytes = encode(HEAD, new Uint8Array(0));
    viewOver(bytes).setUint32(112, 0xffff_ffff, true);
    assert.equal(claimedRecordLength(viewOver(bytes), 0), 0);
  });
});

describe("a checkpoint", () => {
  const requestRow = (
    facts: Pick<RememberedRequest, "number" | "checksum" | "baseOffset" | "count" | "length">,
  ) => ({
    client: 2n ** 128n - 1n,
    user: 7,
    request: { operation: 160, op: 76, timestamp: 1_700_000_000_000_000, ...facts },
  });
  const row = (firstOffset: number) => ({
    firstOffset,
    endOffset: firstOffset + 10,
    logLength: 1000,
    opsLength: 500,
    lastTimestamp: 99,
  });
  const checkpoint = {
    op: 77,
    opChecksum: 2n ** 64n - 1n,
    view: 3,
    timestamp: 1_700_000_000_000_000,
    commit: 70,
    closing: true,
    identity: { streamId: 1, topicId: 2, partitionId: 3, revision: 4 },
    generation: 5,
    nextOffset: 40,
    committedNextOffset: 38,
    sealed: [row(0), row(10)],
    active: row(20),
    offsets: [
      { consumerKind: 1 as const, id: 4_294_967_295, offset: 9 },
      { consumerKind: 2 as const, id: 0, offset: 0 },
    ],
    requests: [
      requestRow({
        number: 2n ** 64n - 1n,
        checksum: 2n ** 64n - 1n,
        baseOffset: 30,
        count: 8,
        length: 4096,
      }),
      requestRow({ number: 1n, checksum: undefined, baseOffset: 0, count: 0, length: 0 }),
    ],
  };

  it("reads back as what was written, and is found from its end", () => {
    const bytes = encodeCheckpoint(kernel, checkpoint);
    const record = readRecord(kernel, bytes, viewOver(bytes), 0);
    assert.ok(record);
    assert.deepEqual(decodeCheckpoint(record), checkpoint);
    assert.equal(lengthFromTrailer(bytes.subarray(bytes.length - TRAILER_LENGTH)), bytes.length);
  });

  it("that does not decode although its checksum is right is damage", () => {
    const bytes = encodeCheckpoint(kernel, checkpoint);
    const view = viewOver(bytes);
    view.setUint32(RECORD_HEADER_LENGTH + 48, 1_000_000, true);
    sealRecord(kernel, bytes, view, { position: 0, length: bytes.length });
    const record = readRecord(kernel, bytes, view, 0);
    assert.ok(record);
    assert.throws(
      () => decodeCheckpoint(record),
      (error) => isCodedError(error, ErrorCode.PartitionDamaged),
    );
  });

  it("is not what another record is", () => {
    const bytes = encode(HEAD, new Uint8Array(0));
    const record = readRecord(kernel, bytes, viewOver(bytes), 0);
    assert.equal(record && decodeCheckpoint(record), undefined);
    assert.equal(lengthFromTrailer(new Uint8Array(3)), 0);
  });
});

describe("the body of a small op", () => {
  it("is refused when it is short, long, or of an unknown kind", () => {
    const isRefused = (error: unknown) => isCodedError(error, ErrorCode.InvalidCommand);
    const bodies: [number, number[]][] = [
      [161, [1, 0, 0, 0, 0]],
      [161, [3, ...new Array<number>(12).fill(0)]],
      [161, [1, ...new Array<number>(13).fill(0)]],
      [161, [1, 0, 0, 0, 0, ...new Array<number>(8).fill(255)]],
      [162, [0, 0, 0, 0, 0]],
      [68, [1]],
      [200, []],
      [160, []],
      [99, [1, 2, 3]],
    ];
    for (const [operation, body] of bodies) {
      assert.throws(() => decodeSmallOperation(operation, Uint8Array.from(body)), isRefused, `${operation}`);
    }
  });
});
