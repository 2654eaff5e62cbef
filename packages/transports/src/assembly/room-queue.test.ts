import assert from "node:assert/strict";
import { test } from "node:test";
import { BlockPool, type Lease } from "@millrace/framing";
import { MessageIntake } from "./message-intake.ts";
import { SharedSpace } from "./message-space.ts";
import { RoomQueue } from "./room-queue.ts";

function poolOfOneBlock(): { pool: BlockPool; block: Lease } {
  const bytes = new Uint8Array(4096);
  const memory = { bytes, view: new DataView(bytes.buffer), blocksStart: 0 };
  const pool = new BlockPool(memory, { blockLength: 4096, checked: true });
  const block = pool.allocate(1);
  assert.ok(block !== undefined);
  return { pool, block };
}

test("whoever waits is called once, in order, and who waits again is called with the next room", async () => {
  const { pool, block } = poolOfOneBlock();
  const queue = new RoomQueue(pool);
  const calls: string[] = [];
  const again = () => {
    calls.push("again");
    if (calls.length < 3) queue.add(again);
  };
  queue.add(again);
  queue.add(() => calls.push("once"));
  const gone = () => calls.push("gone");
  queue.add(gone);
  queue.remove(gone);
  block.release();
  await Promise.resolve();
  assert.deepEqual(calls, ["again", "once"]);
  pool.allocate(1)?.release();
  await Promise.resolve();
  assert.deepEqual(calls, ["again", "once", "again"]);
  assert.equal(queue.length, 0);
});

test("connections that closed while they waited are forgotten, however many there were", async () => {
  const { pool, block } = poolOfOneBlock();
  const space = new SharedSpace(pool);
  const message = new Uint8Array(256);
  new DataView(message.buffer).setUint32(48, 256, true);
  for (let index = 0; index < 500; index++) {
    let full = false;
    const intake = new MessageIntake({
      space,
      messageLengthMax: 4096,
      onMessage: () => assert.fail("there is no room for a message"),
      onReadEnd: () => {},
      onFull: () => {
        full = true;
      },
      onRoom: () => assert.fail("a closed intake is not told"),
      onFault: (error) => assert.fail(error),
    });
    intake.received(message);
    assert.equal(full, true);
    intake.close();
  }
  assert.equal(space.waitingCount, 0);
  block.release();
  await Promise.resolve();
});
