import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isCodedError } from "@millrace/errors";
import {
  encodeEvictionHeader,
  encodeReplyHeader,
  encodeRequestHeader,
  HEADER_LENGTH,
  HeapLeases,
} from "@millrace/framing";
import { TransportKind } from "@millrace/platform";
import { EvictionReason, encodeResultRejection, encodeResultSuccess, Operation } from "@millrace/protocol";
import { DeliveryTurn } from "./delivery-turn.ts";
import { type Outcome, repliesIn } from "./reply.ts";
import { VirtualConnection } from "./virtual-connection.ts";

const leases = new HeapLeases();

function requestBytes(operation: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_LENGTH);
  encodeRequestHeader(bytes, { length: HEADER_LENGTH, client: 1n, operation });
  return bytes;
}

function replyParts(operation: number, body: readonly Uint8Array[], status = 0): Uint8Array[] {
  const header = new Uint8Array(HEADER_LENGTH);
  const bodyLength = body.reduce((sum, part) => sum + part.length, 0);
  encodeReplyHeader(header, requestBytes(operation), { bodyLength, status });
  return [header, ...body];
}

function started() {
  const connection = new VirtualConnection({
    transport: TransportKind.http,
    remoteAddress: "test:1",
    turn: new DeliveryTurn(),
  });
  const heard: number[] = [];
  const outcomes: (Outcome | Error)[] = [];
  connection.onMessage = (messageLease) => heard.push(messageLease.length);
  const ask = (length: number) => {
    const messageLease = leases.allocate(length);
    connection.request({ messageLease, done: (outcome) => outcomes.push(outcome) });
  };
  return { connection, heard, outcomes, ask };
}

describe("A virtual connection", () => {
  it("hands over together what one turn asked for, and answers in order", async () => {
    const { connection, heard, outcomes, ask } = started();
    ask(256);
    ask(300);
    assert.deepEqual(heard, [], "not before the turn ends");
    await nextTurn();
    assert.deepEqual(heard, [256, 300]);
    const payload = Uint8Array.of(1, 2, 3);
    const first = replyParts(Operation.CreateStream, [encodeResultSuccess(payload)]);
    const second = replyParts(Operation.NonReplicated, [], 1009);
    await new Promise<void>((resolve) => connection.send([...first, ...second], () => resolve()));
    assert.deepEqual(outcomes, [
      { code: 0, payload, isLast: false },
      { code: 1009, payload: new Uint8Array(0), isLast: false },
    ]);
    assert.equal(connection.requestsCount, 0);
  });

  it("keeps requests back while the broker pauses it", async () => {
    const { connection, heard, ask } = started();
    connection.pause();
    connection.pause();
    ask(256);
    await nextTurn();
    connection.resume();
    assert.deepEqual(heard, []);
    connection.resume();
    assert.deepEqual(heard, [256]);
    connection.resume();
    ask(257);
    await nextTurn();
    assert.deepEqual(heard, [256, 257]);
  });

  it("fails everything unanswered once when it closes, and everything asked later", async () => {
    const { connection, outcomes, ask } = started();
    let closed = 0;
    let ended = 0;
    connection.onClose = () => {
      closed++;
    };
    connection.onEnded = () => {
      ended++;
    };
    ask(256);
    await nextTurn();
    ask(256);
    connection.close();
    connection.close();
    ask(256);
    await nextTurn();
    assert.deepEqual([closed, ended, outcomes.length], [1, 1, 3]);
    assert.ok(outcomes.every((outcome) => isCodedError(outcome)));
    const written = await new Promise((resolve) => connection.send([new Uint8Array(256)], resolve));
    assert.ok(isCodedError(written), "a reply after the close reaches nobody");
  });
});

describe("Replies in one write", () => {
  it("are told apart by their lengths, with bodies in parts, behind their header, and empty parts between", () => {
    const body = encodeResultSuccess(Uint8Array.of(5, 6));
    const parts = [
      ...replyParts(Operation.NonReplicated, [new Uint8Array(0)]),
      ...replyParts(Operation.CreateStream, [body.subarray(0, 3), body.subarray(3)]),
      ...replyParts(Operation.DeleteStream, [encodeResultRejection(1009)]),
      ...replyParts(Operation.NonReplicated, [Uint8Array.of(9)]),
      Buffer.concat(replyParts(Operation.CreateStream, [body])),
    ];
    const read = [...repliesIn(parts)].map(({ code, payload }) => [code, ...payload]);
    assert.deepEqual(read, [[0], [0, 5, 6], [1009], [0, 9], [0, 5, 6]]);
  });

  it("may have the body, or its beginning, behind the header in one part", () => {
    const together = Buffer.concat(replyParts(Operation.NonReplicated, [Uint8Array.of(5, 6, 7)]));
    const parts = [together, together.subarray(0, HEADER_LENGTH + 1), Uint8Array.of(6, 7), together];
    const read = [...repliesIn(parts)].map(({ payload }) => [...payload]);
    assert.deepEqual(read, [
      [5, 6, 7],
      [5, 6, 7],
      [5, 6, 7],
    ]);
  });

  it("are copies, so the broker may use its memory again", () => {
    const body = Uint8Array.of(1, 2);
    const [reply] = [...repliesIn(replyParts(Operation.NonReplicated, [body]))];
    body.fill(9);
    assert.deepEqual(reply?.payload, Uint8Array.of(1, 2));
  });

  it("may be an eviction, which is the last", () => {
    const header = new Uint8Array(HEADER_LENGTH);
    const fields = { client: 1n, serverProtocolVersion: 0, serverProtocolVersionMin: 0 };
    encodeEvictionHeader(header, { ...fields, reason: EvictionReason.InvalidCredentials });
    assert.deepEqual([...repliesIn([header])], [{ code: 42, payload: new Uint8Array(0), isLast: true }]);
  });
});
