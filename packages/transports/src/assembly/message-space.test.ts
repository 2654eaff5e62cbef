import assert from "node:assert/strict";
import { test } from "node:test";
import { BlockPool, type Lease } from "@millrace/framing";
import { SharedSpace } from "./message-space.ts";

const BLOCK = 4096;

function spaceOf(blockCount: number): { pool: BlockPool; space: SharedSpace } {
  const bytes = new Uint8Array(blockCount * BLOCK);
  const memory = { bytes, view: new DataView(bytes.buffer), blocksStart: 0 };
  const pool = new BlockPool(memory, { blockLength: BLOCK, checked: true });
  return { pool, space: new SharedSpace(pool) };
}

test("Giving up the shared block for a long message wakes a waiter that takes that very block.", async () => {
  const { pool, space } = spaceOf(2);
  const other = pool.allocate(1);
  space.take(100)?.release();
  let woken: Lease | undefined;
  space.onAvailable(() => {
    woken = space.take(BLOCK - 50);
  });
  assert.equal(space.take(2 * BLOCK), undefined, "the other block is held");
  await Promise.resolve();
  assert.equal(woken?.length, BLOCK - 50);
  const beside = space.take(50);
  assert.equal(beside?.length, 50, "what the waiter took is the shared block now");
  for (const lease of [other, woken, beside]) lease?.release();
  space.release();
  assert.equal(pool.leasesOut, 0);
});

test("A waiter woken by a new shared block that replaces the old one takes its place in the new one.", async () => {
  const { pool, space } = spaceOf(3);
  space.take(3000)?.release();
  const held: (Lease | undefined)[] = [];
  space.onAvailable(() => void held.push(space.take(200)));
  held.push(space.take(2000));
  await Promise.resolve();
  assert.deepEqual(
    held.map((lease) => lease?.length),
    [2000, 200],
  );
  assert.equal(pool.blocksFree, 2, "both lie in one block");
  for (const lease of held) lease?.release();
  space.release();
  assert.equal(pool.leasesOut, 0, "no block was lost on the way");
});
