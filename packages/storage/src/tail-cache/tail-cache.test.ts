import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BlockPool, createChecksumKernel, type Lease } from "@millrace/framing";
import { Tail } from "./tail.ts";
import { TailCache } from "./tail-cache.ts";

const kernel = createChecksumKernel({ memoryLength: 4_194_304 });

function poolOf(blocks: number): BlockPool {
  return new BlockPool(kernel.memory, { blockLength: 65_536, length: blocks * 65_536, checked: true });
}

function fill(cache: TailCache, pool: BlockPool, tail: Tail, batch: { at: number; length: number }): void {
  const block = pool.allocate(batch.length) as Lease;
  const lease = block.part(0, batch.length);
  block.release();
  lease.bytes.fill(batch.at);
  const kept = {
    lease,
    position: lease.position,
    length: batch.length,
    baseOffset: batch.at * 2,
    endOffset: batch.at * 2 + 2,
    timestamp: 1000 + batch.at,
  };
  cache.keep(pool, kernel, tail, kept);
  lease.release();
  assert.equal(kernel.memory.bytes[kept.position], batch.at % 256);
  assert.equal(kernel.memory.bytes[kept.position + batch.length - 1], batch.at % 256);
  kept.lease.release();
}

describe("the tail cache", () => {
  it("finds batches by offset and by time, and only what it can prove", () => {
    const pool = poolOf(8);
    const cache = new TailCache({ lengthMax: 1600 });
    const tail = new Tail();
    for (let at = 5; at < 15; at += 1) fill(cache, pool, tail, { at, length: 100 });
    assert.equal(tail.find(9), undefined);
    assert.equal(tail.find(10)?.baseOffset, 10);
    assert.equal(tail.find(21)?.baseOffset, 20);
    assert.equal(tail.find(30), undefined);
    assert.equal(tail.findTimestamp(1005), undefined, "an earlier batch may have that time too");
    assert.equal(tail.findTimestamp(1006)?.baseOffset, 12);
    assert.equal(tail.findTimestamp(1015), undefined);
    cache.drop(tail);
    assert.equal(pool.leasesOut, 0);
  });

  it("keeps many small batches of many partitions in few blocks", () => {
    const pool = poolOf(8);
    const cache = new TailCache({ lengthMax: 1_000_000 });
    const tails = Array.from({ length: 20 }, () => new Tail());
    for (let at = 0; at < 400; at += 1) fill(cache, pool, tails[at % 20] as Tail, { at, length: 300 });
    assert.equal(cache.length, 120_000);
    assert.ok(pool.blocksTotal - pool.blocksFree <= 2);
    const { position, length } = tails[3]?.first ?? { position: 0, length: 0 };
    assert.ok(kernel.memory.bytes.subarray(position, position + length).every((byte) => byte === 3));
    for (const tail of tails) cache.drop(tail);
    assert.equal(cache.length, 0);
    assert.equal(pool.leasesOut, 0);
  });

  it("keeps small batches that follow each other as one stretch, over no block's edge and not without end", () => {
    const pool = poolOf(8);
    const cache = new TailCache({ lengthMax: 500_000 });
    const [tail, other] = [new Tail(), new Tail()];
    const stretches = new Set<unknown>();
    for (let at = 0; at < 1000; at += 1) {
      fill(cache, pool, tail, { at, length: 300 });
      stretches.add(tail.last);
      assert.equal(tail.last?.endOffset, at * 2 + 2);
      assert.equal(tail.last?.lastTimestamp, 1000 + at);
      assert.ok((tail.last?.length ?? 0) <= 31_250);
      const from = (tail.last?.position ?? 0) - kernel.memory.blocksStart;
      const lastByte = from + (tail.last?.length ?? 0) - 1;
      assert.equal(Math.floor(from / pool.blockLength), Math.floor(lastByte / pool.blockLength));
    }
    assert.ok(stretches.size <= 15, `${stretches.size} stretches`);
    fill(cache, pool, other, { at: 5000, length: 300 });
    fill(cache, pool, tail, { at: 1000, length: 300 });
    assert.equal(tail.last?.length, 300, "another partition's batch lies between");
    cache.drop(tail);
    cache.drop(other);
    assert.equal(pool.leasesOut, 0);
  });

  it("lets the oldest go beyond its length", () => {
    const pool = poolOf(8);
    const cache = new TailCache({ lengthMax: 1000 });
    const [older, newer] = [new Tail(), new Tail()];
    for (let at = 0; at < 8; at += 1) fill(cache, pool, older, { at, length: 100 });
    for (let at = 0; at < 8; at += 1) fill(cache, pool, newer, { at, length: 100 });
    assert.equal(cache.length, 1000);
    assert.equal(older.first?.baseOffset, 12);
    assert.equal(newer.first?.baseOffset, 0);
    cache.drop(older);
    cache.drop(newer);
    assert.equal(pool.leasesOut, 0);
  });

  it("gives way when the pool runs short", () => {
    const pool = poolOf(8);
    const cache = new TailCache({ lengthMax: 10_000_000 });
    cache.servePool(pool);
    let before = 0;
    const tail = new Tail();
    for (let at = 0; at < 7; at += 1) fill(cache, pool, tail, { at, length: 60_000 });
    before = cache.length;
    const leases = [pool.allocate(65_536), pool.allocate(65_536), pool.allocate(65_536)];
    assert.ok(
      leases.every((lease) => lease !== undefined),
      "the cache made room",
    );
    assert.ok(cache.length < before);
    for (const lease of leases) lease?.release();
    cache.drop(tail);
    assert.equal(pool.leasesOut, 0);
  });

  it("calls whoever listened to the pool's pressure before it", () => {
    const pool = poolOf(8);
    let called = 0;
    pool.onPressure = () => {
      called += 1;
    };
    const cache = new TailCache({ lengthMax: 1000 });
    cache.servePool(pool);
    cache.servePool(pool);
    pool.onPressure?.();
    assert.equal(called, 1);
  });

  it("holds nothing back when it may hold nothing", () => {
    const pool = poolOf(8);
    const cache = new TailCache({ lengthMax: 0 });
    const tail = new Tail();
    for (let at = 0; at < 100; at += 1) fill(cache, pool, tail, { at, length: 100 });
    assert.equal(tail.first, undefined);
    assert.equal(pool.leasesOut, 0);
  });

  it("does not grow by batches of partitions that come and go", () => {
    const pool = poolOf(8);
    const cache = new TailCache({ lengthMax: 1_000_000 });
    const stays = new Tail();
    fill(cache, pool, stays, { at: 0, length: 100 });
    for (let at = 0; at < 20_000; at += 1) {
      const tail = new Tail();
      fill(cache, pool, tail, { at: at % 200, length: 10 });
      cache.drop(tail);
    }
    assert.equal(cache.length, 100);
    assert.equal(stays.first?.baseOffset, 0);
    cache.drop(stays);
    assert.equal(pool.leasesOut, 0);
  });
});
