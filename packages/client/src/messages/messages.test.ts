import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { createChecksumKernel, FrameCursor, fieldKindName, isWireError, writeBatch } from "@millrace/framing";
import { goldenCases, SeededRandom, toHex } from "@millrace/testkit";
import { prepareMessage } from "./message.ts";
import { decodeHeaders, encodeHeaders, type MessageHeaders } from "./message-headers.ts";
import { partitioningOf } from "./partition-choice.ts";
import { RandomIds } from "./random-ids.ts";
import { readMessages } from "./received-message.ts";

const now = 1_700_000_000_000_000;

test("every kind of header value comes back as what it was", () => {
  const values = {
    text: "grün",
    whole: -7,
    big: 2 ** 40,
    fraction: 0.1,
    minusZero: -0,
    flag: true,
    exact: 2n ** 63n - 1n,
    unsigned: 2n ** 64n - 1n,
    huge: 2n ** 128n - 1n,
    low: -(2n ** 100n),
    bytes: Uint8Array.of(0, 255),
  };
  const decoded = decodeHeaders(encodeHeaders(values), { partitionId: 0, offset: 0n });
  assert.deepEqual(Object.fromEntries(decoded), values);
  assert.equal(encodeHeaders({}).length, 0);
  assert.equal(encodeHeaders(undefined).length, 0);
});

test("a header may name its kind, and a map may have keys that are not text", () => {
  const headers: MessageHeaders = new Map([
    [{ kind: "uint8", value: 7 } as const, { kind: "float32", value: 1.5 } as const],
  ]);
  const messages = readMessages(batchOf([{ payload: "x", headers }]));
  const [[key, value] = []] = messages[0]?.headerFields ?? [];
  assert.equal(fieldKindName(key?.kind ?? 0), "uint8");
  assert.equal(fieldKindName(value?.kind ?? 0), "float32");
  assert.deepEqual([...(messages[0]?.headers ?? [])], [["7", 1.5]]);
  assert.throws(
    () => encodeHeaders({ k: { kind: "uint8", value: 256 } }),
    (error) => isCodedError(error, ErrorCode.InvalidHeaderValue),
  );
});

function batchOf(messages: Parameters<typeof prepareMessage>[0][]): Uint8Array {
  const kernel = createChecksumKernel({ memoryLength: 1_048_576 });
  const { bytes, blocksStart } = kernel.memory;
  const prepared = messages.map((message) => prepareMessage(message, now));
  const length = writeBatch(
    bytes,
    blocksStart,
    prepared,
    Math.min(...prepared.map((one) => one.originTimestamp)),
  );
  kernel.sealBatch(blocksStart, length);
  kernel.stampBatch(blocksStart, 4, 1000, now + 5);
  return bytes.slice(blocksStart, blocksStart + length);
}

test("a message reads the same from its frame as the cursor does", () => {
  const batch = batchOf([
    { payload: Uint8Array.of(1, 2, 3), id: 2n ** 127n + 5n, originTimestamp: 77n },
    { payload: "text", headers: { a: 1 }, id: 9n, originTimestamp: 99n },
    { payload: { json: { deep: [1, "two"] } }, id: 1n, originTimestamp: 100n },
  ]);
  const messages = readMessages(batch);
  const cursor = new FrameCursor(batch);
  for (const message of messages) {
    assert.ok(cursor.next());
    assert.equal(message.id, cursor.id);
    assert.equal(message.checksum, cursor.checksum);
    assert.equal(message.offset, BigInt(cursor.header.baseOffset + cursor.offsetDelta));
    assert.equal(message.originTimestamp, BigInt(cursor.header.originTimestamp + cursor.timestampDelta));
    assert.deepEqual(message.payload, cursor.payload);
    assert.deepEqual(message.userHeaders, cursor.userHeaders);
    assert.equal(message.partitionId, 4);
    assert.equal(message.timestamp, BigInt(now + 5));
  }
  assert.equal(messages[1]?.text(), "text");
  assert.deepEqual(messages[2]?.json(), { deep: [1, "two"] });
  assert.throws(() => messages[2] && readMessages(batch.subarray(0, batch.length - 1)), isWireError);
});

test("headers that are none are a coded error with a position, and their bytes stay readable", () => {
  const kernel = createChecksumKernel({ memoryLength: 1_048_576 });
  const { bytes, blocksStart } = kernel.memory;
  const notText = new Uint8Array([2, 1, 0, 0, 0, 65, 2, 1, 0, 0, 0, 0xff]);
  for (const userHeaders of [new Uint8Array([7, 7, 7]), notText]) {
    const length = writeBatch(bytes, blocksStart, [{ payload: new Uint8Array([1]), userHeaders }], 1);
    const [message] = readMessages(bytes.subarray(blocksStart, blocksStart + length));
    const isCoded = (error: unknown) =>
      isCodedError(error, ErrorCode.CannotReadHeadersPayload) &&
      typeof error.details["position"] === "number";
    assert.throws(() => message?.headers, isCoded);
    assert.deepEqual(message?.userHeaders, userHeaders);
  }
});

test("recorded poll replies give the recorded messages", () => {
  const polls = goldenCases().filter((one) => one.name.startsWith("response/poll_") && one.expected_hex);
  assert.ok(polls.length >= 3);
  for (const one of polls) {
    const body = Buffer.from(one.expected_hex ?? "", "hex");
    const messages = readMessages(new Uint8Array(body.subarray(16)));
    assert.equal(messages.length, body.readUInt32LE(12), one.name);
    for (const message of messages) assert.ok(message.payload.length > 0);
  }
});

test("random ids are version 4 UUIDs with the variant in place, and differ", () => {
  const random = new SeededRandom(1);
  const ids = new RandomIds({ bytes: (length) => random.bytes(length), fraction: () => random.fraction() });
  const seen = new Set<string>();
  for (let index = 0; index < 1000; index += 1) {
    const bytes = new Uint8Array(20);
    ids.write(bytes, 2);
    assert.deepEqual([bytes[0], bytes[1], bytes[18], bytes[19]], [0, 0, 0, 0]);
    const uuid = toHex(bytes.slice(2, 18).reverse());
    assert.match(uuid, /^.{12}4.{3}[89ab]/);
    seen.add(uuid);
  }
  assert.equal(seen.size, 1000);
});

test("a partition is a whole number of 32 bits, a key has 1 to 255 bytes", () => {
  assert.deepEqual(partitioningOf(), { kind: "balanced" });
  assert.deepEqual(partitioningOf({ partition: 3 }), { kind: "partition", partitionId: 3 });
  for (const partition of [-1, 1.5, 2 ** 32, Number.NaN]) {
    assert.throws(
      () => partitioningOf({ partition }),
      (error) => isCodedError(error, ErrorCode.InvalidArgument),
    );
  }
  for (const key of ["", "k".repeat(256)]) {
    assert.throws(
      () => partitioningOf({ key }),
      (error) => isCodedError(error, ErrorCode.InvalidKeyValueLength),
    );
  }
});
