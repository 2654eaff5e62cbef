import assert from "node:assert/strict";
import { test } from "node:test";
import { commandAt, encodeRequestHeader, HEADER_LENGTH, HeapLeases, WireCommand } from "@millrace/framing";
import { type Connection, TransportKind } from "@millrace/platform";
import { SimClock } from "@millrace/platform/sim";
import { EvictionReason, Operation } from "@millrace/protocol";
import { ReplySlots } from "../replies/reply-slots.ts";
import { ClientConnection, type ConnectionLimits } from "./client-connection.ts";
import type { ClientRequest } from "./client-request.ts";
import type { Session } from "./session.ts";

/** A connection whose requests a test answers by hand. */
function connected(limits: Partial<ConnectionLimits> = {}) {
  const clock = new SimClock();
  const allReplies = { length: 0 };
  const begun: ClientRequest[] = [];
  const written: (() => void)[] = [];
  const sent: Uint8Array[] = [];
  const state = { pauses: 0, isClosed: false, endedCount: 0, writesAtOnce: true };
  const connection = {
    transport: TransportKind.memory,
    remoteAddress: "test:1",
    onMessage: (_lease: unknown) => {},
    onReadEnd: () => {},
    onDrain: () => {},
    onClose: () => {},
    send(parts: readonly Uint8Array[], onWritten: () => void) {
      sent.push(...parts);
      if (state.writesAtOnce) onWritten();
      else written.push(onWritten);
      return true;
    },
    pause: () => {
      state.pauses += 1;
    },
    resume: () => {
      state.pauses -= 1;
    },
    close: () => {
      state.isClosed = true;
    },
  };
  const one = new ClientConnection({
    number: 1,
    connection: connection as unknown as Connection,
    host: {
      clock,
      replySlots: new ReplySlots(),
      limits: {
        requestsInFlightMax: 4,
        repliesLengthMax: 600,
        allRepliesLengthMax: 1_000_000,
        messageLengthMax: 1024,
        strangerMessageLengthMax: 1024,
        ...limits,
      },
      allReplies,
      begin: (request) => void begun.push(request),
      ended: () => {
        state.endedCount += 1;
      },
    },
  });
  const leases = new HeapLeases();
  const receive = (operation: number) => {
    const lease = leases.allocate(HEADER_LENGTH);
    assert.ok(lease);
    encodeRequestHeader(lease.bytes, { length: HEADER_LENGTH, client: 1n, operation });
    connection.onMessage(lease);
  };
  return { one, begun, state, written, sent, connection, clock, receive, allReplies };
}

const commandOf = ({ buffer, byteOffset }: Uint8Array) => commandAt(new DataView(buffer, byteOffset), 0);

const SEND = Operation.SendMessages;
const READ = Operation.NonReplicated;

test("Sends begin beside each other; a read waits for them, and what follows waits for the read.", () => {
  const { begun, receive } = connected({ requestsInFlightMax: 100, repliesLengthMax: 10_000 });
  for (const operation of [SEND, SEND, READ, SEND, READ]) receive(operation);
  assert.equal(begun.length, 2);
  begun[1]?.answer();
  assert.equal(begun.length, 2, "the first send is not answered yet");
  begun[0]?.answer();
  assert.equal(begun.length, 3);
  begun[2]?.answer();
  assert.equal(begun.length, 4);
  begun[3]?.answer();
  assert.equal(begun.length, 5);
});

test("The socket is paused at the bound of requests in flight and resumed at half of it.", async () => {
  const { begun, receive, state, clock } = connected();
  for (let index = 0; index < 4; index++) receive(READ);
  assert.equal(state.pauses, 1);
  begun[0]?.answer();
  await clock.run(0);
  assert.equal(state.pauses, 1, "three are left");
  begun[1]?.answer();
  begun[2]?.answer();
  await clock.run(0);
  assert.equal(state.pauses, 0);
});

test("A held connection begins nothing and is paused until it is let go.", () => {
  const { one, begun, receive, state } = connected();
  one.hold();
  receive(SEND);
  assert.deepEqual([begun.length, state.pauses], [0, 1]);
  one.unhold();
  assert.deepEqual([begun.length, state.pauses], [1, 0]);
});

test("A halted connection begins nothing until it goes on, and is not paused.", () => {
  const { one, begun, receive, state } = connected();
  one.halt();
  receive(SEND);
  assert.deepEqual([begun.length, state.pauses], [0, 0]);
  one.goOn();
  assert.equal(begun.length, 1);
});

test("While replies are not written, nothing further begins.", async () => {
  const { begun, receive, state, written, clock } = connected({
    requestsInFlightMax: 100,
    repliesLengthMax: 200,
  });
  state.writesAtOnce = false;
  receive(READ);
  receive(READ);
  begun[0]?.answer();
  await clock.run(0);
  assert.equal(begun.length, 1);
  written[0]?.();
  assert.equal(begun.length, 2);
});

test("Before login a socket is paused at few requests and begins nothing above few unwritten replies.", async () => {
  const { one, begun, receive, state, written, clock } = connected({
    requestsInFlightMax: 100,
    repliesLengthMax: 10_000_000,
  });
  for (let index = 0; index < 8; index++) receive(READ);
  assert.equal(state.pauses, 1);
  state.writesAtOnce = false;
  begun[0]?.answer([new Uint8Array(17_000)]);
  await clock.run(0);
  assert.equal(begun.length, 1, "the stranger takes its reply first");
  one.session = { client: 1n, session: 1, user: 0, isFenced: false, countsRequests: false };
  written[0]?.();
  assert.deepEqual([begun.length, state.pauses], [2, 0], "a client that is logged in may do more");
  begun[1]?.answer([new Uint8Array(17_000)]);
  assert.equal(begun.length, 3);
});

test("While all connections together owe too much, one that owes more than a little begins nothing.", async () => {
  const { one, begun, receive, state, written, clock, allReplies } = connected({
    requestsInFlightMax: 100,
    repliesLengthMax: 10_000_000,
    allRepliesLengthMax: 50_000,
  });
  one.session = { client: 1n, session: 1, user: 0, isFenced: false, countsRequests: false };
  state.writesAtOnce = false;
  for (let index = 0; index < 3; index++) receive(READ);
  allReplies.length = 60_000;
  begun[0]?.answer([new Uint8Array(10_000)]);
  await clock.run(0);
  assert.equal(begun.length, 2, "little is owed");
  begun[1]?.answer([new Uint8Array(10_000)]);
  await clock.run(0);
  assert.equal(begun.length, 2);
  for (const callback of written) callback();
  assert.equal(begun.length, 3);
  assert.equal(allReplies.length, 60_000, "what is written counts no more");
});

test("Finishing answers what was received, takes nothing more, and closes.", async () => {
  const { one, begun, receive, state, clock } = connected();
  receive(READ);
  receive(READ);
  one.finish();
  receive(READ);
  begun[0]?.answer();
  begun[1]?.answer();
  await clock.run(0);
  assert.deepEqual([begun.length, state.isClosed], [2, true]);
});

test("An eviction leaves behind the answers that are due and closes, whatever waited for its turn.", async () => {
  const { one, begun, receive, state, clock, sent, allReplies } = connected();
  one.session = { client: 7n } as Session;
  for (let index = 0; index < 3; index++) receive(READ);
  one.evict(EvictionReason.StaleClient);
  begun[0]?.answer();
  await clock.run(0);
  assert.deepEqual([begun.length, state.isClosed, allReplies.length], [1, true, 0]);
  assert.deepEqual(sent.map(commandOf), [WireCommand.reply, WireCommand.eviction]);
});

test("A closed connection lets go of what waits; what has begun may still be answered into nothing.", async () => {
  const { begun, receive, state, connection, clock } = connected();
  receive(READ);
  receive(READ);
  connection.onClose();
  connection.onClose();
  begun[0]?.answer([new Uint8Array(3)]);
  await clock.run(0);
  assert.deepEqual([begun.length, state.endedCount], [1, 1]);
});
