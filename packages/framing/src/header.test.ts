import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { capturedFrames, fromHex, goldenCase, goldenCases, toHex } from "@millrace/testkit";
import fc from "fast-check";
import { xxh3_64 } from "./checksum/xxh3.ts";
import { decodeEvictionHeader, encodeEvictionHeader } from "./eviction-header.ts";
import { commandAt, HEADER_LENGTH, messageLengthAt, WireCommand } from "./header-kind.ts";
import { decodeReplyHeader, encodeReplyHeader, type ReplyHeader, writeReplyHeader } from "./reply-header.ts";
import {
  codeAt,
  decodeRequestHeader,
  encodeRequestHeader,
  hasClientAt,
  hasRequestChecksumAt,
  operationAt,
  requestHighAt,
  requestLowAt,
  sessionHighAt,
  sessionLowAt,
} from "./request-header.ts";
import { viewOf } from "./wide-integer.ts";
import { isWireError } from "./wire-error.ts";

const U32 = fc.integer({ min: 0, max: 0xffff_ffff });
const U64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const U128 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n });
const U8 = fc.integer({ min: 0, max: 255 });
const PLAIN = { noNullPrototype: true } as const;
const COUNTER = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

function encodedRequest(header: Parameters<typeof encodeRequestHeader>[1]): Uint8Array {
  const target = new Uint8Array(HEADER_LENGTH).fill(0xee);
  encodeRequestHeader(target, header);
  return target;
}

describe("request header", () => {
  for (const one of goldenCases("request_header")) {
    it(`is written and read as in ${one.name}`, () => {
      const expected = fromHex(one.expected_hex ?? "");
      const { input } = one;
      const withChecksum = typeof input.request_checksum === "string";
      const body = fromHex(goldenCase("frame/register").expected_hex ?? "").subarray(HEADER_LENGTH);
      const written = encodedRequest({
        length: input.size,
        client: BigInt(input.client_u128),
        request: BigInt(input.request),
        session: BigInt(input.session),
        operation: input.operation,
        timestamp: BigInt(input.timestamp ?? 0),
        requestChecksum: withChecksum ? xxh3_64(body) : 0n,
      });
      assert.equal(toHex(written), one.expected_hex);
      assert.equal(toHex(encodedRequest(decodeRequestHeader(expected))), one.expected_hex);
      assert.equal(hasRequestChecksumAt(viewOf(expected), 0), withChecksum);
    });
  }

  for (const one of goldenCases("frame").filter((frame) => fromHex(frame.expected_hex ?? "")[60] === 5)) {
    it(`of ${one.name} comes back from its fields`, () => {
      const message = fromHex(one.expected_hex ?? "");
      const header = decodeRequestHeader(message);
      assert.equal(header.length, one.length);
      assert.equal(toHex(encodedRequest(header)), toHex(message.subarray(0, HEADER_LENGTH)));
      if (one.input.client_u128 === undefined) return;
      assert.equal(header.client, BigInt(one.input.client_u128));
      assert.equal(header.request, BigInt(one.input.request));
      assert.equal(header.session, BigInt(one.input.session));
      assert.equal(header.operation, one.input.operation);
      assert.equal(header.code, one.input.code ?? 0);
    });
  }

  it("of every frame an official client sent comes back from its fields", () => {
    const captures = capturedFrames();
    assert.ok(captures.length > 10);
    for (const capture of captures) {
      const message = fromHex(capture.hex);
      const header = decodeRequestHeader(message);
      assert.equal(toHex(encodedRequest(header)), toHex(message.subarray(0, HEADER_LENGTH)), capture.name);
      assert.equal(header.command, WireCommand.request);
      assert.equal(header.length, capture.length);
      assert.equal(header.operation, capture.operation);
      assert.equal(header.code, capture.command_code ?? 0);
      assert.equal(header.request, BigInt(capture.request));
      assert.equal(header.session, BigInt(capture.session));
    }
  });

  it("gives single fields without bigint, at any position", () => {
    const message = new Uint8Array(300);
    encodeRequestHeader(message.subarray(44), {
      length: 700,
      client: 1n << 127n,
      operation: 2,
      request: (3n << 32n) | 4n,
      session: (5n << 32n) | 6n,
      code: 100,
    });
    const view = viewOf(message);
    assert.deepEqual(
      [messageLengthAt(view, 44), commandAt(view, 44), operationAt(view, 44), codeAt(view, 44)],
      [700, WireCommand.request, 2, 100],
    );
    assert.deepEqual(
      [requestHighAt(view, 44), requestLowAt(view, 44), sessionHighAt(view, 44), sessionLowAt(view, 44)],
      [3, 4, 5, 6],
    );
    assert.ok(hasClientAt(view, 44) && !hasRequestChecksumAt(view, 44));
    assert.equal(decodeRequestHeader(message, 44).code, 100);
  });

  it("comes back from any fields", () => {
    const fields = fc.record(
      {
        length: U32,
        command: U8,
        client: U128,
        requestChecksum: U128,
        timestamp: U64,
        request: U64,
        operation: U8,
        session: U64,
        userId: U32,
        code: U32,
      },
      PLAIN,
    );
    fc.assert(
      fc.property(fields, (header) => {
        assert.deepEqual(decodeRequestHeader(encodedRequest(header)), header);
      }),
    );
  });
});

describe("reply header", () => {
  const replies = goldenCases("frame").filter((frame) => fromHex(frame.expected_hex ?? "")[60] === 8);

  it("has golden cases", () => assert.ok(replies.length >= 3));

  for (const one of replies) {
    it(`of ${one.name} is what the request's header and the result make`, () => {
      const message = fromHex(one.expected_hex ?? "");
      const { input } = one;
      const requestHeader = encodedRequest({
        length: HEADER_LENGTH,
        client: BigInt(input.client_u128),
        request: BigInt(input.request),
        operation: input.operation,
      });
      const written = new Uint8Array(HEADER_LENGTH).fill(0xee);
      encodeReplyHeader(written, requestHeader, {
        bodyLength: message.byteLength - HEADER_LENGTH,
        op: input.op ?? 0,
        commit: input.commit ?? 0,
        status: input.status,
        ...(input.timestamp === undefined ? {} : { timestamp: Number(input.timestamp) }),
      });
      assert.equal(toHex(written), toHex(message.subarray(0, HEADER_LENGTH)));
      const header = decodeReplyHeader(message);
      assert.equal(header.client, BigInt(input.client_u128));
      assert.equal(header.op, BigInt(input.op ?? 0));
      assert.equal(header.status, input.status);
    });
  }

  it("echoes the request's own bytes and says what it is told", () => {
    const request = fc.uint8Array({ minLength: HEADER_LENGTH, maxLength: HEADER_LENGTH });
    const fields = fc.record(
      {
        bodyLength: fc.integer({ min: 0, max: 1_000_000 }),
        operation: U8,
        status: U32,
        op: COUNTER,
        commit: COUNTER,
        view: U32,
        timestamp: COUNTER,
      },
      PLAIN,
    );
    fc.assert(
      fc.property(request, fields, (requestHeader, said) => {
        const written = new Uint8Array(HEADER_LENGTH);
        encodeReplyHeader(written, requestHeader, said);
        const asked = decodeRequestHeader(requestHeader);
        const expected: ReplyHeader = {
          length: HEADER_LENGTH + said.bodyLength,
          view: said.view,
          client: asked.client,
          op: BigInt(said.op),
          commit: BigInt(said.commit),
          timestamp: BigInt(said.timestamp),
          request: asked.request,
          operation: said.operation,
          status: said.status,
          requestChecksum: asked.requestChecksum,
        };
        assert.deepEqual(decodeReplyHeader(written), expected);
        assert.deepEqual(written.subarray(32, 48), requestHeader.subarray(32, 48));
        assert.deepEqual(written.subarray(56, 60), requestHeader.subarray(56, 60));
        assert.equal(written[61], requestHeader[61]);
      }),
    );
  });

  it("is the same over another reply header as over zeros", () => {
    const request = fc.uint8Array({ minLength: HEADER_LENGTH, maxLength: HEADER_LENGTH });
    const fields = fc.record({ bodyLength: U32, status: U32, op: COUNTER, commit: COUNTER }, PLAIN);
    const more = fc.record({ operation: U8, view: U32, timestamp: COUNTER }, PLAIN);
    fc.assert(
      fc.property(fc.tuple(request, fields, more), fc.tuple(request, fields), (before, [asked, said]) => {
        const [used, fresh] = [new Uint8Array(HEADER_LENGTH), new Uint8Array(HEADER_LENGTH)];
        writeReplyHeader(viewOf(used), viewOf(before[0]), 0, { ...before[1], ...before[2] });
        for (const target of [used, fresh]) writeReplyHeader(viewOf(target), viewOf(asked), 0, said);
        assert.deepEqual(used, fresh);
      }),
    );
  });

  it("echoes operation, view and timestamp unless told otherwise", () => {
    const requestHeader = encodedRequest({ length: 256, client: 7n, operation: 9, timestamp: 11n });
    viewOf(requestHeader).setUint32(52, 5, true);
    const written = new Uint8Array(HEADER_LENGTH);
    encodeReplyHeader(written, requestHeader, { bodyLength: 0 });
    const { operation, view, timestamp, op, commit, status } = decodeReplyHeader(written);
    assert.deepEqual([operation, view, timestamp, op, commit, status], [9, 5, 11n, 0n, 0n, 0]);
  });
});

describe("eviction header", () => {
  for (const one of goldenCases("eviction")) {
    it(`is written and read as in ${one.name}`, () => {
      const eviction = {
        client: BigInt(one.input.client_u128),
        reason: one.input.reason,
        serverProtocolVersion: one.input.server_protocol_version,
        serverProtocolVersionMin: one.input.server_protocol_version_min,
      };
      const written = new Uint8Array(HEADER_LENGTH).fill(0xee);
      encodeEvictionHeader(written, eviction);
      assert.equal(toHex(written), one.expected_hex);
      assert.deepEqual(decodeEvictionHeader(written), eviction);
      assert.equal(commandAt(viewOf(written), 0), WireCommand.eviction);
    });
  }
});

describe("every header", () => {
  it("shorter than 256 bytes is refused where it begins", () => {
    for (const decode of [decodeRequestHeader, decodeReplyHeader, decodeEvictionHeader]) {
      for (const [length, position] of [
        [0, 0],
        [255, 0],
        [300, 45],
        [10, 20],
      ] as const) {
        assert.throws(
          () => decode(new Uint8Array(length), position),
          (error) => isWireError(error, "unexpected_end") && error.position === position,
        );
      }
    }
  });

  it("decodes whatever 256 bytes hold", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 256, maxLength: 256 }), (bytes) => {
        decodeRequestHeader(bytes);
        decodeReplyHeader(bytes);
        decodeEvictionHeader(bytes);
      }),
    );
  });
});
