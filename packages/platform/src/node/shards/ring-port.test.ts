import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { createRingBuffer, Ring } from "./ring.ts";
import { RingPort } from "./ring-port.ts";

const RING_LENGTH = 1024;
/** Some forty times what the ring has room for. */
const MESSAGES = 2000;

/** Both ends of a way with short rings, in one thread: so a test says when the reader begins. */
function createWay(): { readonly front: RingPort; readonly owner: RingPort; close(): void } {
  const [there, back] = [createRingBuffer(RING_LENGTH), createRingBuffer(RING_LENGTH)];
  const { port1, port2 } = new MessageChannel();
  const front = new RingPort({ out: new Ring(there), in: new Ring(back) }, port1);
  const owner = new RingPort({ out: new Ring(back), in: new Ring(there) }, port2);
  const close = () => {
    front.close();
    owner.close();
  };
  return { front, owner, close };
}

/** Message number `at`; every hundredth is longer than a record may be. */
function messageOf(at: number): Uint8Array {
  const message = new Uint8Array(at % 100 === 99 ? RING_LENGTH : 4 + (at % 40));
  new DataView(message.buffer).setUint32(0, at, true);
  return message;
}

const numberOf = (message: Uint8Array) =>
  new DataView(message.buffer, message.byteOffset, message.byteLength).getUint32(0, true);

/** Starts a port, which takes all messages in the order in which they were sent. */
async function takesAllInOrder(port: RingPort, onMessage: (message: Uint8Array) => void): Promise<void> {
  const taken: number[] = [];
  await new Promise<void>((resolve) => {
    port.onMessage = (message) => {
      taken.push(numberOf(message));
      onMessage(message);
      if (taken.length === MESSAGES) resolve();
    };
    port.start();
  });
  assert.deepEqual(
    taken,
    Array.from({ length: MESSAGES }, (_, at) => at),
  );
}

describe("RingPort", () => {
  it("keeps what finds no room, in order, and keeps nothing once the reader has taken it", {
    timeout: 30_000,
  }, async () => {
    const { front, owner, close } = createWay();
    const bytes = messageOf(0);
    front.start();
    for (let at = 0; at < MESSAGES; at++) {
      const message = messageOf(at);
      front.send(message);
      message.fill(0xff);
    }
    assert.ok(front.waitingCount > MESSAGES / 2, `${front.waitingCount} wait`);
    await takesAllInOrder(owner, (message) => {
      assert.equal(message.length, messageOf(numberOf(message)).length);
    });
    assert.equal(front.waitingCount, 0);
    front.send(bytes);
    assert.equal(front.waitingCount, 0, "the ring has room again");
    close();
  });

  it("lets nothing overtake what waits, also when the reader has just made room", {
    timeout: 30_000,
  }, async () => {
    const { front, owner, close } = createWay();
    front.start();
    let sent = 0;
    const send = () => front.send(messageOf(sent++));
    while (front.waitingCount < 10) send();
    await takesAllInOrder(owner, () => {
      // There is room where the message before this one lay; those that wait are before what is sent now.
      if (sent < MESSAGES) send();
    });
    assert.equal(front.waitingCount, 0);
    close();
  });

  it("carries both ways at once while both rings are full", { timeout: 30_000 }, async () => {
    const { front, owner, close } = createWay();
    for (let at = 0; at < MESSAGES; at++) {
      front.send(messageOf(at));
      owner.send(messageOf(at));
    }
    const arrivals = [front, owner].map(
      (port) =>
        new Promise<void>((resolve) => {
          let next = 0;
          port.onMessage = (message) => {
            assert.equal(numberOf(message), next);
            next += 1;
            if (next === MESSAGES) resolve();
          };
        }),
    );
    front.start();
    owner.start();
    await Promise.all(arrivals);
    assert.deepEqual([front.waitingCount, owner.waitingCount], [0, 0]);
    close();
  });
});
