import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BlockPool, createChecksumKernel } from "@millrace/framing";
import { Waiters } from "../queues/waiters.ts";
import { EarlyPrepares } from "./early-prepares.ts";

const MIB = 1024 * 1024;

/** A group that is being opened. */
function opening() {
  const waiting = new Waiters();
  return {
    group: { afterOpen: (callback: () => void) => waiting.add(callback) },
    open: () => waiting.tell(),
  };
}

describe("A prepare that comes while its group is being opened", () => {
  it("is handed over in its turn once the group is open, with its bytes as they were.", () => {
    const early = new EarlyPrepares();
    const { group, open } = opening();
    const taken: number[][] = [];
    const lent = new Uint8Array(2);
    for (const byte of [1, 2]) {
      lent.fill(byte);
      early.keep(group, { bytes: lent, lease: undefined }, ({ bytes }) => taken.push([...bytes]));
    }
    lent.fill(9);
    assert.deepEqual(taken, []);
    open();
    assert.deepEqual(taken, [[1, 1], [2, 2]]); // biome-ignore format: one line
  });

  it("holds none of the memory of messages: a block that many share would be kept for the least of them.", () => {
    const pool = new BlockPool(createChecksumKernel({ memoryLength: 4 * MIB }).memory, { checked: true });
    const [early, { group, open }] = [new EarlyPrepares(), opening()];
    const taken: number[][] = [];
    for (const byte of [1, 2]) {
      const block = pool.allocate(100);
      assert.ok(block !== undefined);
      const lease = block.part(0, 100);
      block.release();
      lease.bytes.fill(byte);
      early.keep(group, { bytes: lease.bytes, lease }, ({ bytes }) => taken.push([...new Set(bytes)]));
      lease.release();
    }
    assert.equal(pool.blocksFree, pool.blocksTotal);
    open();
    assert.deepEqual(taken, [[1], [2]]);
  });

  it("is lost when too many wait on the node, or too much, until some have had their turn.", () => {
    const early = new EarlyPrepares();
    const [first, second] = [opening(), opening()];
    let count = 0;
    const keep = ({ group }: typeof first, length: number, times: number) => {
      for (let at = 0; at < times; at += 1)
        early.keep(group, { bytes: new Uint8Array(length), lease: undefined }, () => {
          count += 1;
        });
    };
    keep(first, 1, 200);
    keep(second, 1, 1);
    for (const { open } of [first, second]) open();
    assert.equal(count, 128);
    keep(second, 3 * MIB, 3);
    second.open();
    assert.equal(count, 130);
  });
});
