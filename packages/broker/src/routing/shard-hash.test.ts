import assert from "node:assert/strict";
import { test } from "node:test";
import { packPartition } from "./pack-partition.ts";
import { murmur3OfPacked, shardOf } from "./shard-hash.ts";

/**
 * Murmur3 over any bytes of a length divisible by 4, with bigint arithmetic: slow, and written another way.
 */
function oracle(bytes: Uint8Array): number {
  const mask = 0xffffffffn;
  const rotate = (value: bigint, by: bigint) => ((value << by) | (value >> (32n - by))) & mask;
  let hash = 0n;
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += 4) {
    const word = (BigInt(view.getUint32(at, true)) * 0xcc9e2d51n) & mask;
    hash ^= (rotate(word, 15n) * 0x1b873593n) & mask;
    hash = (rotate(hash, 13n) * 5n + 0xe6546b64n) & mask;
  }
  hash ^= BigInt(bytes.length);
  hash = ((hash ^ (hash >> 16n)) * 0x85ebca6bn) & mask;
  hash = ((hash ^ (hash >> 13n)) * 0xc2b2ae35n) & mask;
  return Number(hash ^ (hash >> 16n));
}

test("The routing hash is Murmur3 over the eight bytes of the packed number.", () => {
  for (const packed of [
    0,
    1,
    2 ** 20,
    packPartition(3, 7, 11),
    packPartition(2 ** 20 - 1, 4095, 2 ** 20 - 1),
  ]) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(packed), true);
    assert.equal(murmur3OfPacked(packed), oracle(bytes));
  }
});

test("A packed partition is stream in 20 bits, topic in 12 and partition in 20.", () => {
  assert.equal(packPartition(1, 0, 0), 2 ** 32);
  assert.equal(packPartition(0, 1, 0), 2 ** 20);
  assert.equal(packPartition(0, 0, 1), 1);
  assert.throws(() => packPartition(0, 4096, 0), /pack/);
});

test("Every shard owns a fair part of a thousand partitions.", () => {
  const owned = [0, 0, 0, 0];
  for (let partition = 0; partition < 1000; partition++) {
    const shard = shardOf(packPartition(0, 0, partition), 4);
    owned[shard] = (owned[shard] ?? 0) + 1;
  }
  assert.ok(Math.min(...owned) > 150, `${owned}`);
});
