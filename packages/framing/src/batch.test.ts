import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, InvariantError, isCodedError } from "@millrace/errors";
import { fromHex, type GoldenCase, goldenCase, goldenCases, toHex, utf8 } from "@millrace/testkit";
import fc from "fast-check";
import {
  BATCH_HEADER_LENGTH,
  baseOffsetAt,
  baseTimestampAt,
  batchChecksumAt,
  batchLengthAt,
  decodeBatchHeader,
  encodeBatchHeader,
  messageCountAt,
  originTimestampAt,
  partitionIdAt,
} from "./batch-header.ts";
import { batchLengthOf, type OutgoingMessage, writeBatch } from "./batch-writer.ts";
import { createChecksumKernel } from "./checksum.ts";
import { FrameCursor } from "./frame-cursor.ts";
import { FRAME_HEADER_LENGTH, frameLengthAt } from "./frame-header.ts";
import { viewOf } from "./wide-integer.ts";
import { isWireError } from "./wire-error.ts";

const kernel = createChecksumKernel({ memoryLength: 1_048_576 });
const { bytes: memory, blocksStart } = kernel.memory;
const ORIGIN = 1_767_225_600_000_000;
const COUNTER = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

function goldenMessage(input: GoldenCase["input"]): OutgoingMessage {
  return {
    id: BigInt(input.id_u128),
    payload: fromHex(input.payload_hex),
    userHeaders: fromHex(input.user_headers_hex),
    originTimestamp: Number(input.origin_timestamp ?? ORIGIN),
  };
}

function sealedBatch(messages: readonly OutgoingMessage[], originTimestamp: number): Uint8Array {
  memory.fill(0xee, blocksStart);
  const length = writeBatch(memory, blocksStart, messages, originTimestamp);
  kernel.sealBatch(blocksStart, length);
  return memory.slice(blocksStart, blocksStart + length);
}

function framesOf(batch: Uint8Array, position = 0): { offset: number; id: bigint; text: string }[] {
  const cursor = new FrameCursor(batch, position);
  const frames = [];
  while (cursor.next()) {
    const text = new TextDecoder().decode(cursor.payload);
    frames.push({ offset: cursor.header.baseOffset + cursor.offsetDelta, id: cursor.id, text });
  }
  return frames;
}

describe("a batch", () => {
  for (const one of goldenCases("message_frame").filter((frame) => frame.input.offset_delta === 0)) {
    it(`holds the frame of ${one.name}`, () => {
      const batch = sealedBatch([goldenMessage(one.input)], ORIGIN);
      assert.equal(toHex(batch.subarray(BATCH_HEADER_LENGTH)), one.expected_hex);
    });
  }

  it("of two messages is what an official client sends, and each frame can be read", () => {
    const one = goldenCase("batch/produce_two_messages");
    const batch = sealedBatch(one.input.messages.map(goldenMessage), Number(one.input.origin_timestamp));
    assert.equal(toHex(batch), one.expected_hex);
    const cursor = new FrameCursor(batch);
    assert.equal(cursor.header.batchChecksum, BigInt(one.input.batch_checksum));
    for (const name of ["frame48/message_1", "frame48/message_2"]) {
      const { input, expected_hex } = goldenCase(name);
      assert.ok(cursor.next());
      const end = cursor.framePosition + cursor.frameLength;
      assert.equal(toHex(batch.subarray(cursor.framePosition, end)), expected_hex);
      assert.equal(cursor.checksum, BigInt(input.checksum));
      assert.equal(cursor.id, BigInt(input.id_u128));
      assert.equal(toHex(cursor.payload), input.payload_hex);
      assert.equal(toHex(cursor.userHeaders), input.user_headers_hex);
      assert.deepEqual(
        [cursor.offsetDelta, cursor.timestampDelta],
        [input.offset_delta, input.timestamp_delta],
      );
    }
    assert.equal(cursor.next(), false);
    assert.equal(cursor.next(), false);
  });

  it("stamped by the server differs in its header alone", () => {
    const produced = goldenCase("batch/produce_two_messages");
    const one = goldenCase("batch/committed_two_messages");
    const { partition_id, base_offset, base_timestamp } = one.input;
    memory.set(fromHex(produced.expected_hex ?? ""), blocksStart);
    kernel.stampBatch(blocksStart, partition_id, base_offset, Number(base_timestamp));
    assert.equal(toHex(memory.subarray(blocksStart, blocksStart + (one.length ?? 0))), one.expected_hex);
    const { view } = kernel.memory;
    assert.deepEqual(
      [partitionIdAt, baseOffsetAt, baseTimestampAt, originTimestampAt, batchLengthAt, messageCountAt].map(
        (read) => read(view, blocksStart),
      ),
      [partition_id, base_offset, Number(base_timestamp), ORIGIN, one.length, 2],
    );
    assert.equal(batchChecksumAt(view, blocksStart), BigInt(one.input.batch_checksum));
  });

  it("sliced is the poll reply of an official server", () => {
    const sliced = goldenCase("batch/sliced_second_message_only");
    memory.set(fromHex(goldenCase("batch/committed_two_messages").expected_hex ?? ""), blocksStart);
    const header = blocksStart + 1000;
    const { start, end } = kernel.sliceBatch(blocksStart, 1, 1, header);
    const slice =
      toHex(memory.subarray(header, header + BATCH_HEADER_LENGTH)) + toHex(memory.subarray(start, end));
    assert.equal(slice, sliced.expected_hex);
    const pollHeader = "03000000" + "6500000000000000" + "01000000";
    assert.equal(pollHeader + slice, goldenCase("response/poll_sliced").expected_hex);
  });

  it("after batch in a poll reply is found where the one before ends", () => {
    const body = fromHex(goldenCase("response/poll_two_batches").expected_hex ?? "");
    const first = new FrameCursor(body, 16);
    const second = 16 + first.header.batchLength;
    assert.deepEqual(framesOf(body, 16), [{ offset: 101, id: 42n, text: "second payload ✓" }]);
    assert.deepEqual(framesOf(body, second), [{ offset: 102, id: 43n, text: "third" }]);
    memory.set(body, blocksStart);
    assert.equal(kernel.verifyBatch(blocksStart + 16, first.header.batchLength), undefined);
    assert.equal(kernel.verifyBatch(blocksStart + second, body.byteLength - second), undefined);
  });

  it("gives every message back as it was written", () => {
    const message = fc.record(
      {
        id: fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
        payload: fc.uint8Array({ maxLength: 300 }),
        userHeaders: fc.uint8Array({ maxLength: 40 }),
        originTimestamp: fc.integer({ min: ORIGIN, max: ORIGIN + 0xffff_ffff }),
      },
      { requiredKeys: ["payload"], noNullPrototype: true },
    );
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), (messages) => {
        const batch = sealedBatch(messages, ORIGIN);
        assert.equal(batch.byteLength, batchLengthOf(messages));
        assert.equal(kernel.verifyBatch(blocksStart, batch.byteLength), undefined);
        const cursor = new FrameCursor(batch);
        for (const [index, sent] of messages.entries()) {
          assert.ok(cursor.next());
          assert.equal(cursor.offsetDelta, index);
          assert.equal(cursor.id, sent.id ?? 0n);
          assert.deepEqual(cursor.payload, sent.payload);
          assert.deepEqual(cursor.userHeaders, sent.userHeaders ?? new Uint8Array(0));
          assert.equal(cursor.header.originTimestamp + cursor.timestampDelta, sent.originTimestamp ?? ORIGIN);
        }
        assert.equal(cursor.next(), false);
      }),
    );
  });

  it("is refused when it would be empty or spread over too much time", () => {
    const payload = utf8("x");
    assert.throws(
      () => writeBatch(memory, blocksStart, [], ORIGIN),
      (error) => isCodedError(error, ErrorCode.InvalidMessagesCount),
    );
    for (const originTimestamp of [ORIGIN - 1, ORIGIN + 2 ** 32]) {
      assert.throws(
        () => writeBatch(memory, blocksStart, [{ payload }, { payload, originTimestamp }], ORIGIN),
        (error) =>
          isCodedError(error, ErrorCode.InvalidMessageTimestampDelta) && error.details["index"] === 1,
      );
    }
    assert.throws(() => writeBatch(new Uint8Array(304), 0, [{ payload }], ORIGIN), InvariantError);
  });
});

describe("the batch header", () => {
  it("comes back from any fields, whatever was there before", () => {
    const header = fc.record(
      {
        partitionId: COUNTER,
        baseOffset: COUNTER,
        baseTimestamp: COUNTER,
        originTimestamp: COUNTER,
        batchLength: fc.integer({ min: BATCH_HEADER_LENGTH, max: Number.MAX_SAFE_INTEGER }),
        batchChecksum: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
        messageCount: fc.integer({ min: 0, max: 0xffff_ffff }),
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(header, fc.nat(20), (fields, position) => {
        const target = new Uint8Array(position + BATCH_HEADER_LENGTH).fill(0xee);
        encodeBatchHeader(target, position, fields);
        assert.deepEqual(decodeBatchHeader(target, position), fields);
      }),
    );
  });

  it("is refused at the field that is wrong", () => {
    const good = fromHex(goldenCase("batch/committed_two_messages").expected_hex ?? "");
    const damage = [
      [{ at: 7, byte: 1 }, "bad_value", 0],
      [{ at: 15, byte: 1 }, "bad_value", 8],
      [{ at: 23, byte: 1 }, "bad_value", 16],
      [{ at: 31, byte: 1 }, "bad_value", 24],
      [{ at: 39, byte: 1 }, "bad_value", 32],
      [{ at: 33, byte: 0 }, "bad_length", 32],
      [{ at: 52, byte: 1 }, "reserved_not_zero", 52],
      [{ at: 255, byte: 1 }, "reserved_not_zero", 52],
    ] as const;
    for (const [{ at, byte }, reason, position] of damage) {
      const bytes = good.slice();
      bytes[at] = byte;
      assert.throws(
        () => decodeBatchHeader(bytes),
        (error) => isWireError(error, reason) && error.position === position,
      );
    }
    assert.throws(() => decodeBatchHeader(good.subarray(0, 255)), isWireError);
  });
});

describe("frameLengthAt", () => {
  it("adds up header, payload and user headers, and refuses a malformed frame", () => {
    const frame = fromHex(goldenCase("frame48/message_1").expected_hex ?? "");
    assert.equal(frameLengthAt(viewOf(frame), 0), frame.byteLength);
    const refused = (bytes: Uint8Array, reason: "unexpected_end" | "reserved_not_zero", position: number) =>
      assert.throws(
        () => frameLengthAt(viewOf(bytes), 0),
        (error) => isWireError(error, reason) && error.position === position,
      );
    refused(frame.subarray(0, FRAME_HEADER_LENGTH - 1), "unexpected_end", 0);
    refused(frame.subarray(0, frame.byteLength - 1), "unexpected_end", 0);
    refused(frame.with(47, 1), "reserved_not_zero", 40);
    refused(frame.with(35, 255).with(39, 255), "unexpected_end", 0);
  });
});

describe("FrameCursor", () => {
  it("refuses a batch that is cut off, and a count that is not the number of frames", () => {
    const good = fromHex(goldenCase("batch/committed_two_messages").expected_hex ?? "");
    assert.throws(
      () => new FrameCursor(good.subarray(0, good.byteLength - 1)),
      (error) => isWireError(error, "unexpected_end") && error.position === 32,
    );
    for (const count of [0, 1, 3]) {
      const wrong = new Uint8Array(5 + good.byteLength);
      wrong.set(good.with(48, count), 5);
      assert.throws(
        () => framesOf(wrong, 5),
        (error) => isWireError(error, "bad_value") && error.position === 5 + 48,
      );
    }
  });

  it("reads or refuses mutated batches with a position inside, and always ends", () => {
    const good = fromHex(goldenCase("batch/committed_two_messages").expected_hex ?? "");
    const change = fc.tuple(fc.nat(good.byteLength - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 4 }), fc.nat(good.byteLength), (changes, length) => {
        const bytes = good.slice(0, Math.max(length, good.byteLength - length));
        for (const [at, byte] of changes) if (at < bytes.byteLength) bytes[at] = byte;
        try {
          framesOf(bytes);
        } catch (error) {
          assert.ok(isWireError(error) && error.position >= 0 && error.position <= bytes.byteLength);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
