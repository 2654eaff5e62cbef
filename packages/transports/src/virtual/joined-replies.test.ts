import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { encodeReplyHeader, encodeRequestHeader, HEADER_LENGTH, HeapLeases } from "@millrace/framing";
import { TransportKind } from "@millrace/platform";
import { Operation } from "@millrace/protocol";
import { DeliveryTurn } from "./delivery-turn.ts";
import type { Outcome } from "./reply.ts";
import { VirtualConnection } from "./virtual-connection.ts";

const leases = new HeapLeases();

/** A reply as one part: the header and the body right behind it. */
function joinedReply(body: Uint8Array): Uint8Array {
  const request = new Uint8Array(HEADER_LENGTH);
  encodeRequestHeader(request, { length: HEADER_LENGTH, client: 1n, operation: Operation.SendMessages });
  const reply = new Uint8Array(HEADER_LENGTH + body.length);
  encodeReplyHeader(reply, request, { bodyLength: body.length });
  reply.set(body, HEADER_LENGTH);
  return reply;
}

test("A reply whose body begins behind its header is taken apart as one in parts is, among others.", async () => {
  const connection = new VirtualConnection({
    transport: TransportKind.http,
    remoteAddress: "test:1",
    turn: new DeliveryTurn(),
  });
  connection.onMessage = () => {};
  const payloads: (Uint8Array | undefined)[] = [];
  const done = (outcome: Outcome | Error) =>
    payloads.push("payload" in outcome ? outcome.payload : undefined);
  const bodies = [Uint8Array.of(1, 2, 3), new Uint8Array(0), Uint8Array.of(4, 5, 6, 7)];
  for (const _ of bodies) {
    const messageLease = leases.allocate(HEADER_LENGTH);
    connection.request({ messageLease, done });
  }
  await nextTurn();
  const [whole, empty, last] = bodies.map(joinedReply) as [Uint8Array, Uint8Array, Uint8Array];
  const cut = HEADER_LENGTH + 1;
  await new Promise<void>((resolve) => {
    connection.send([whole, empty, last.subarray(0, cut), last.subarray(cut)], () => resolve());
  });
  assert.deepEqual(payloads, bodies);
});
