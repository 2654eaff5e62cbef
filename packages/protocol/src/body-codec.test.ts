import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { isWireError, WireError } from "@millrace/framing";
import fc from "fast-check";
import { ALL_CODECS, type CodecUnderTest } from "./all-codecs.compliance.ts";
import { decodeBody, decodeWith, encodeBody } from "./body-codec.ts";
import { decodeGetConsumerGroupReply } from "./consumer-groups/get-consumer-group.ts";
import { decodeSendMessagesReply } from "./messages/send-messages.ts";
import { encodeCreateStream } from "./streams/create-stream.ts";

const RUNS = { numRuns: 40 };

/** Every codec with a name for the report. */
const CODECS: readonly (readonly [string, CodecUnderTest])[] = Object.entries(ALL_CODECS).flatMap(
  ([name, { request, reply }]) => {
    const named: (readonly [string, CodecUnderTest])[] = [];
    if (request) named.push([`${name} request`, request]);
    if (reply) named.push([`${name} reply`, reply]);
    return named;
  },
);

/** Decodes hostile bytes: anything but a value or an error of the two allowed kinds fails the test. */
function decodeHostile(codec: CodecUnderTest, bytes: Uint8Array): void {
  try {
    codec.decode(bytes);
  } catch (error) {
    if (isWireError(error)) {
      assert.ok(error.position >= 0 && error.position <= bytes.length, `position ${error.position}`);
    } else if (!isCodedError(error)) throw error;
  }
}

/** Some bytes of a valid body changed, cut off or added. */
function mutated(body: Uint8Array, changes: readonly (readonly [number, number])[], cut: number): Uint8Array {
  const bytes = body.slice(0, Math.max(0, body.length - cut));
  for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
  return bytes;
}

const changes = fc.array(fc.tuple(fc.nat({ max: 200 }), fc.nat({ max: 255 })), { maxLength: 3 });

for (const [name, codec] of CODECS) {
  test(`${name} comes back as it was encoded`, () => {
    fc.assert(
      fc.property(codec.arbitrary, (value) => {
        const bytes = codec.encode(value);
        assert.deepEqual(codec.decode(bytes), value);
        assert.deepEqual(codec.encode(codec.decode(bytes)), bytes);
      }),
      RUNS,
    );
  });

  test(`${name} answers damaged and random bytes with a coded error or a value`, () => {
    fc.assert(
      fc.property(codec.arbitrary, changes, fc.nat({ max: 9 }), (value, changed, cut) => {
        decodeHostile(codec, mutated(codec.encode(value), changed, cut));
      }),
      RUNS,
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => decodeHostile(codec, bytes)),
      RUNS,
    );
  });
}

/**
 * Where fewer bytes can mean the same: batches run to the end, and no confirmations are also an empty body.
 */
const OPEN_ENDED = ["PollMessages reply", "PollMessagesOnPrimary reply", "SendMessages reply"];

for (const [name, codec] of CODECS.filter(([one]) => !OPEN_ENDED.includes(one))) {
  test(`${name} is never read as the same value from fewer bytes`, () => {
    fc.assert(
      fc.property(codec.arbitrary, fc.nat({ max: 500 }), (value, at) => {
        const bytes = codec.encode(value);
        if (bytes.length === 0) return;
        const shorter = bytes.subarray(0, at % bytes.length);
        let decoded: unknown;
        try {
          decoded = codec.decode(shorter);
        } catch (error) {
          assert.ok(isWireError(error));
          return;
        }
        assert.notDeepEqual(decoded, value);
      }),
      RUNS,
    );
  });
}

test("decodeBody turns a wire error into InvalidCommand with position and reason", () => {
  const failing = (): never => {
    throw new WireError("unknown_kind", 7);
  };
  assert.throws(
    () => decodeBody(failing, new Uint8Array(9)),
    (error) => {
      assert.ok(isCodedError(error, ErrorCode.InvalidCommand));
      assert.deepEqual(error.details, { position: 7, reason: "unknown_kind" });
      assert.ok(isWireError(error.cause));
      return true;
    },
  );
});

test("decodeBody lets every other error pass", () => {
  const ours = new Error("not about bytes");
  const failing = (): never => {
    throw ours;
  };
  assert.throws(
    () => decodeBody(failing, new Uint8Array(0)),
    (error) => error === ours,
  );
});

test("encodeBody refuses a value that does not fit its field with InvalidCommand", () => {
  assert.throws(
    () => encodeBody(encodeCreateStream, { name: "", options: [] }),
    (error) => isCodedError(error, ErrorCode.InvalidCommand) && error.details["reason"] === "empty_name",
  );
});

test("a body with bytes behind its last field is refused", () => {
  assert.throws(
    () => decodeWith((reader) => reader.u8(), Uint8Array.of(1, 2)),
    (error) => isWireError(error, "trailing_bytes") && error.position === 1,
  );
});

test("a count that lies ends at the last byte and reserves nothing", () => {
  const lying = Uint8Array.of(0xff, 0xff, 0xff, 0xff);
  assert.throws(
    () => decodeSendMessagesReply(lying),
    (error) => isWireError(error, "unexpected_end"),
  );
  const group = Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0x61);
  assert.throws(
    () => decodeGetConsumerGroupReply(group),
    (error) => isWireError(error, "unexpected_end"),
  );
});
