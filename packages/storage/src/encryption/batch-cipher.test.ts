import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  BlockPool,
  batchLengthOf,
  FRAME_AT,
  type Lease,
  type OutgoingMessage,
  writeBatch,
} from "@millrace/framing";
import { createNodeCipher } from "@millrace/platform/node";
import { SimRandom } from "@millrace/platform/sim";
import { SeededRandom, toHex } from "@millrace/testkit";
import { IDENTITY, kernel } from "../partition/partition-fixture.test.ts";
import { BatchCipher } from "./batch-cipher.ts";

const { memory } = kernel;
const KEY = new Uint8Array(32).fill(1);

function cipherOf(pool: BlockPool, key = KEY) {
  return new BatchCipher({ cipher: createNodeCipher(key, new SimRandom(1)), kernel, pool });
}

function newPool(): BlockPool {
  return new BlockPool(kernel.memory, { blockLength: 65_536, checked: true });
}

/** A stamped batch in the pool. */
function stamped(pool: BlockPool, messages: readonly OutgoingMessage[]): Lease {
  const length = batchLengthOf(messages);
  const block = pool.allocate(length);
  assert.ok(block);
  writeBatch(block.bytes, 0, messages, 5);
  kernel.sealBatch(block.position, length);
  kernel.stampBatch(block.position, IDENTITY.partitionId, 1000, 77);
  const lease = block.part(0, length);
  block.release();
  return lease;
}

function randomMessages(random: SeededRandom): OutgoingMessage[] {
  return Array.from({ length: 1 + random.below(40) }, (_, index) => ({
    id: BigInt(index) << 64n,
    payload: random.bytes(random.below(600)),
    ...(random.fraction() < 0.5 ? { userHeaders: random.bytes(random.below(60)) } : {}),
  }));
}

describe("a batch cipher", () => {
  it("stores a batch as a good batch of 40 bytes more that shows nothing of it, and gives it back", () => {
    const pool = newPool();
    const cipher = cipherOf(pool);
    for (let seed = 1; seed <= 60; seed += 1) {
      const messages = randomMessages(new SeededRandom(seed));
      const clear = stamped(pool, messages);
      const before = toHex(clear.bytes);
      const stored = cipher.seal(IDENTITY, clear);
      assert.ok(stored);
      assert.equal(toHex(clear.bytes), before, "what is cached stays as it was");
      assert.equal(stored.length, clear.length + 40);
      assert.equal(kernel.verifyBatch(stored.position, stored.length), undefined);
      const text = toHex(stored.bytes);
      for (const { payload, userHeaders } of messages) {
        for (const part of [payload, userHeaders]) {
          if (part !== undefined && part.length > 8) assert.ok(!text.includes(toHex(part)), `seed ${seed}`);
        }
      }
      const room = pool.allocate(stored.length + 100);
      assert.ok(room);
      const gap = seed % 3 === 0 ? 0 : seed;
      const { position } = room;
      memory.bytes.copyWithin(position + gap, stored.position, stored.position + stored.length);
      const length = cipher.open(IDENTITY, { position: position + gap, length: stored.length }, position);
      assert.equal(length, clear.length);
      assert.equal(toHex(room.bytes.subarray(0, length)), before, `seed ${seed}`);
      for (const lease of [room, stored, clear]) lease.release();
    }
    cipher.close();
    assert.equal(pool.leasesOut, 0);
  });

  it("opens no batch in another partition, at another offset or time, under other headers or another key", () => {
    const pool = newPool();
    const cipher = cipherOf(pool);
    const clear = stamped(pool, [{ id: 3n, payload: new Uint8Array(50) }, { payload: new Uint8Array(9) }]);
    const stored = cipher.seal(IDENTITY, clear);
    const room = pool.allocate(1000);
    assert.ok(stored && room);
    const { position } = room;
    const open = (change: () => void, identity = IDENTITY, key = KEY) => {
      room.bytes.set(stored.bytes);
      change();
      kernel.sealBatch(position, stored.length);
      return cipherOf(pool, key).open(identity, { position, length: stored.length }, position);
    };
    const nothing = () => undefined;
    assert.equal(open(nothing), clear.length);
    for (const part of ["streamId", "topicId", "partitionId", "revision"] as const) {
      assert.equal(open(nothing, { ...IDENTITY, [part]: IDENTITY[part] + 1 }), undefined, part);
    }
    assert.equal(open(nothing, IDENTITY, new Uint8Array(32)), undefined);
    const flip = (at: number) => () => {
      room.bytes[at] = (room.bytes[at] ?? 0) ^ 1;
    };
    for (const at of [
      0,
      8,
      16,
      24,
      256 + FRAME_AT.id,
      256 + FRAME_AT.offsetDelta,
      256 + 48 + 60,
      stored.length - 1,
    ]) {
      assert.equal(open(flip(at)), undefined, `byte ${at}`);
    }
    const move = () => {
      const second = position + 256 + 48 + 40 + 50;
      memory.view.setUint32(position + 256 + FRAME_AT.payloadLength, 40 + 49, true);
      memory.view.setUint32(position + 256 + FRAME_AT.userHeadersLength, 1, true);
      assert.equal(memory.view.getUint32(second + FRAME_AT.payloadLength, true), 9);
    };
    assert.equal(open(move), undefined, "the border between payload and headers is sealed too");
    for (const lease of [room, stored, clear]) lease.release();
    cipher.close();
  });

  it("takes what was never sealed for nothing of its own", () => {
    const pool = newPool();
    const clear = stamped(pool, [{ payload: new Uint8Array(8) }, { payload: new Uint8Array(200) }]);
    const { position, length } = clear;
    assert.equal(cipherOf(pool).open(IDENTITY, { position, length }, position), undefined);
    clear.release();
  });

  it("seals nothing when the pool has no room", () => {
    const pool = new BlockPool(kernel.memory, { blockLength: 65_536, length: 65_536 });
    const cipher = cipherOf(pool);
    const clear = stamped(pool, [{ payload: new Uint8Array(100) }]);
    assert.equal(cipher.seal(IDENTITY, clear), undefined);
    clear.release();
    assert.equal(pool.leasesOut, 0);
  });
});
