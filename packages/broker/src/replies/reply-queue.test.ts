import assert from "node:assert/strict";
import { test } from "node:test";
import type { Connection } from "@millrace/platform";
import { SimClock } from "@millrace/platform/sim";
import { type ExpectedReply, ReplyQueue } from "./reply-queue.ts";

/** A reply whose body is set when a test says so. */
class Reply implements ExpectedReply {
  parts: readonly Uint8Array[] | undefined = undefined;
  isLast = false;
  writtenCount = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  ready(): this {
    this.parts = [new TextEncoder().encode(this.#text)];
    return this;
  }

  onWritten(): void {
    this.writtenCount += 1;
  }
}

function queueOn(clock: SimClock) {
  const writes: string[] = [];
  const callbacks: (() => void)[] = [];
  const state = { isClosed: false, takes: true, roomCount: 0 };
  const connection = {
    onDrain: () => {},
    send(parts: readonly Uint8Array[], onWritten: () => void) {
      writes.push(parts.map((part) => new TextDecoder().decode(part)).join(""));
      callbacks.push(onWritten);
      return state.takes;
    },
    close() {
      state.isClosed = true;
    },
  };
  const onRoom = () => {
    state.roomCount += 1;
  };
  const total = { length: 0 };
  const queue = new ReplyQueue({
    connection: connection as unknown as Connection,
    clock,
    total,
    onRoom,
  });
  return { queue, writes, callbacks, state, connection, total };
}

test("Replies leave in the order of the requests, those of one event in one write.", async () => {
  const clock = new SimClock();
  const { queue, writes } = queueOn(clock);
  const [a, b, c] = [new Reply("a"), new Reply("b"), new Reply("c")];
  for (const reply of [a, b, c]) queue.expect(reply);
  queue.settle(c.ready());
  await clock.run(0);
  assert.deepEqual(writes, [], "c waits for those before it");
  queue.settle(b.ready());
  queue.settle(a.ready());
  await clock.run(0);
  assert.deepEqual(writes, ["abc"]);
});

test("A reply's bytes count until they are written, and it is told so once.", async () => {
  const clock = new SimClock();
  const { queue, callbacks, state } = queueOn(clock);
  const reply = new Reply("hello");
  queue.expect(reply);
  queue.settle(reply.ready());
  await clock.run(0);
  assert.deepEqual([queue.lengthQueued, reply.writtenCount], [5, 0]);
  callbacks[0]?.();
  assert.deepEqual([queue.lengthQueued, reply.writtenCount, state.roomCount], [0, 1, 1]);
});

test("While the connection takes nothing more, nothing is sent; it goes on when it drains.", async () => {
  const clock = new SimClock();
  const { queue, writes, state, connection } = queueOn(clock);
  state.takes = false;
  for (const text of ["a", "b"]) {
    const reply = new Reply(text);
    queue.expect(reply);
    queue.settle(reply.ready());
    await clock.run(0);
  }
  assert.deepEqual(writes, ["a"]);
  connection.onDrain();
  assert.deepEqual(writes, ["a", "b"]);
});

test("Nothing leaves behind the reply that closes the connection.", async () => {
  const clock = new SimClock();
  const { queue, writes, state } = queueOn(clock);
  const [a, last, late] = [new Reply("a"), new Reply("end"), new Reply("late")];
  last.isLast = true;
  for (const reply of [a, last, late]) queue.expect(reply);
  for (const reply of [late, last, a]) queue.settle(reply.ready());
  await clock.run(0);
  assert.deepEqual([writes, state.isClosed], [["aend"], true]);
});

test("When the connection is gone, every reply gives back what it borrows, once, now or when it is ready.", async () => {
  const clock = new SimClock();
  const { queue, writes, total } = queueOn(clock);
  const [ready, late] = [new Reply("a"), new Reply("b")];
  const pending = new Reply("first");
  for (const reply of [pending, ready, late]) queue.expect(reply);
  queue.settle(ready.ready());
  queue.close();
  queue.settle(late.ready());
  await clock.run(0);
  assert.deepEqual([ready.writtenCount, late.writtenCount, pending.writtenCount], [1, 1, 0]);
  assert.deepEqual([writes, queue.lengthQueued, total.length], [[], 0, 0]);
});

test("A peer is stalled when it takes nothing for longer than its bytes deserve.", async () => {
  const clock = new SimClock();
  const { queue, callbacks } = queueOn(clock);
  const reply = new Reply("x".repeat(1024 * 1000));
  queue.expect(reply);
  queue.settle(reply.ready());
  await clock.run(30_500);
  assert.equal(queue.isStalled(clock.monotonicMs()), false, "a second for each MiB comes on top");
  await clock.run(1000);
  assert.equal(queue.isStalled(clock.monotonicMs()), true);
  callbacks[0]?.();
  assert.equal(queue.isStalled(clock.monotonicMs() + 1e9), false);
});
