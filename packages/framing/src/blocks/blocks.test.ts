import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InvariantError } from "@millrace/errors";
import { SeededRandom } from "@millrace/testkit";
import type { KernelMemory } from "../checksum/checksum-kernel.ts";
import { BlockPool } from "./block-pool.ts";
import { HeapLeases } from "./heap-leases.ts";
import type { Lease } from "./lease.ts";

const BLOCK = 64;
const START = 128;

/** A memory whose first bytes belong to the kernel. */
function memoryOf(blocks: number): KernelMemory {
  const buffer = new ArrayBuffer(START + blocks * BLOCK + 7);
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer), blocksStart: START };
}

function poolOf(blocks: number): BlockPool {
  return new BlockPool(memoryOf(blocks), { blockLength: BLOCK, checked: true });
}

/** Whoever waits for a block is called by then. */
async function soon(): Promise<void> {
  for (let turns = 0; turns < 3; turns += 1) await Promise.resolve();
}

function taken(pool: BlockPool, length: number): Lease {
  const lease = pool.allocate(length);
  assert.ok(lease);
  return lease;
}

describe("BlockPool", () => {
  it("leases whole blocks behind the kernel's own part, several in a row for a long message", () => {
    const pool = poolOf(8);
    assert.equal(pool.blocksTotal, 8);
    const short = taken(pool, 1);
    const long = taken(pool, 3 * BLOCK - 1);
    assert.deepEqual([short.position, short.length], [START, BLOCK]);
    assert.deepEqual([long.position, long.length], [START + BLOCK, 3 * BLOCK]);
    assert.deepEqual([pool.blocksFree, pool.leasesOut], [4, 2]);
    long.bytes[5] = 9;
    assert.equal(long.view.getUint8(5), 9);
    short.release();
    long.release();
    assert.deepEqual([pool.blocksFree, pool.leasesOut], [8, 0]);
  });

  it("frees a block with the last hold on it, be it of a part or of the whole", () => {
    const pool = poolOf(1);
    const whole = taken(pool, BLOCK);
    whole.bytes.set([1, 2, 3, 4], 10);
    const part = whole.part(10, 4);
    const inner = part.part(1, 2);
    part.retain();
    whole.release();
    part.release();
    assert.deepEqual([inner.position, [...inner.bytes]], [START + 11, [2, 3]]);
    inner.release();
    assert.deepEqual([pool.blocksFree, pool.leasesOut], [0, 1]);
    assert.deepEqual([...part.bytes], [1, 2, 3, 4]);
    part.release();
    assert.deepEqual([pool.blocksFree, pool.leasesOut], [1, 0]);
  });

  it("gives nothing when too few blocks in a row are free", () => {
    const pool = poolOf(4);
    const leases = [1, 1, 1, 1].map((length) => taken(pool, length));
    assert.equal(pool.allocate(1), undefined);
    leases[0]?.release();
    leases[2]?.release();
    assert.equal(pool.blocksFree, 2);
    assert.equal(pool.allocate(2 * BLOCK), undefined);
    leases[1]?.release();
    const run = taken(pool, 3 * BLOCK);
    assert.equal(run.position, START);
    assert.equal(pool.allocate(5 * BLOCK), undefined);
    run.release();
    leases[3]?.release();
    assert.equal(pool.leasesOut, 0);
  });

  it("calls whoever waits once, in order, only while something is free, and never within a release", async () => {
    const pool = poolOf(2);
    const held = [taken(pool, 1), taken(pool, 1)];
    const calls: string[] = [];
    const got: Lease[] = [];
    for (const name of ["first", "second", "third"]) {
      pool.onAvailable(() => {
        calls.push(name);
        got.push(taken(pool, 1));
      });
    }
    held[0]?.release();
    assert.deepEqual(calls, [], "whoever releases is in the middle of something");
    await soon();
    assert.deepEqual(calls, ["first"]);
    held[1]?.release();
    await soon();
    assert.deepEqual(calls, ["first", "second"]);
    for (const lease of got.slice()) lease.release();
    await soon();
    assert.deepEqual(calls, ["first", "second", "third"]);
    got[2]?.release();
    assert.equal(pool.leasesOut, 0);
  });

  it("lets one who needs more wait again without calling it in circles", async () => {
    const pool = poolOf(2);
    const held = [taken(pool, 1), taken(pool, 1)];
    let calls = 0;
    let run: Lease | undefined;
    const want = (): void => {
      calls++;
      run = pool.allocate(2 * BLOCK);
      if (run === undefined) pool.onAvailable(want);
    };
    pool.onAvailable(want);
    held[0]?.release();
    await soon();
    assert.deepEqual([calls, run], [1, undefined]);
    held[1]?.release();
    await soon();
    assert.equal(calls, 2);
    assert.equal(run?.length, 2 * BLOCK);
    run?.release();
  });

  it("serves those who wait when one of them frees a block itself", async () => {
    const pool = poolOf(1);
    const held = taken(pool, 1);
    const calls: string[] = [];
    pool.onAvailable(() => {
      calls.push("borrows");
      taken(pool, 1).release();
    });
    pool.onAvailable(() => calls.push("waits"));
    held.release();
    await soon();
    assert.deepEqual(calls, ["borrows", "waits"]);
  });

  it("asks caches to let go when few blocks are left, and again before it gives up", () => {
    const pool = poolOf(16);
    const cached = Array.from({ length: 14 }, () => taken(pool, 1));
    let pressed = 0;
    pool.onPressure = () => {
      pressed++;
      cached.pop()?.release();
    };
    const first = taken(pool, 1);
    assert.equal(pressed, 1, "one block was left, fewer than an eighth");
    const second = taken(pool, 2 * BLOCK);
    assert.equal(pressed, 3, "two in a row were found after a call, and then one block was left again");
    assert.equal(pool.allocate(100 * BLOCK), undefined);
    assert.equal(pressed, 4);
    for (const lease of [first, second, ...cached]) lease.release();
    assert.equal(pool.leasesOut, 0);
  });

  it("stops whoever uses or releases a lease after its last release", () => {
    const pool = poolOf(2);
    const lease = taken(pool, 1);
    lease.release();
    const mistakes: (() => unknown)[] = [
      () => lease.bytes,
      () => lease.view,
      () => lease.retain(),
      () => lease.release(),
      () => lease.part(0, 1),
    ];
    for (const mistake of mistakes) assert.throws(mistake, InvariantError);
    const other = taken(pool, 1);
    for (const mistake of mistakes) assert.throws(mistake, InvariantError);
    other.release();
  });

  it("overwrites freed blocks and finds whoever writes into them, when it checks", () => {
    const pool = poolOf(1);
    const lease = taken(pool, 1);
    const { bytes } = lease;
    bytes[0] = 7;
    lease.release();
    assert.ok(bytes.every((byte) => byte === 0xdb));
    taken(pool, 1).release();
    bytes[BLOCK - 1] = 1;
    assert.throws(() => pool.allocate(1), InvariantError);
  });

  it("leaves freed blocks alone when it does not check", () => {
    const pool = new BlockPool(memoryOf(1), { blockLength: BLOCK });
    const lease = taken(pool, 1);
    lease.bytes[0] = 7;
    lease.release();
    const again = taken(pool, 1);
    assert.equal(again.bytes[0], 7);
    again.release();
  });

  it("takes no more of the memory than it is told", () => {
    const pool = new BlockPool(memoryOf(8), { blockLength: BLOCK, length: 3 * BLOCK + 1 });
    assert.equal(pool.blocksTotal, 3);
    assert.throws(() => new BlockPool(memoryOf(8), { length: BLOCK }), InvariantError);
    assert.throws(() => new BlockPool(memoryOf(8), { blockLength: 12 }), InvariantError);
  });

  it("never lends a byte twice, whatever is taken and given back", () => {
    const pool = poolOf(24);
    const random = new SeededRandom(7);
    const held: Lease[] = [];
    for (let round = 0; round < 3000; round++) {
      const lease = random.below(2) === 0 ? pool.allocate(1 + random.below(5 * BLOCK)) : undefined;
      if (lease) {
        lease.bytes.fill(round % 251);
        lease.bytes[0] = held.length;
        held.push(lease);
      } else if (held.length > 0) {
        held.splice(random.below(held.length), 1)[0]?.release();
      }
      const blocks = held.reduce((sum, one) => sum + one.length / BLOCK, 0);
      assert.equal(pool.blocksFree, 24 - blocks);
      const ends = held.map((one) => [one.position, one.position + one.length] as const);
      ends.sort((left, right) => left[0] - right[0]);
      for (let index = 1; index < ends.length; index++)
        assert.ok((ends[index - 1]?.[1] ?? 0) <= (ends[index]?.[0] ?? 0));
    }
    for (const lease of held) lease.release();
    assert.deepEqual([pool.blocksFree, pool.leasesOut], [24, 0]);
  });
});

describe("parts", () => {
  it("lie inside their lease", () => {
    const pool = poolOf(1);
    for (const lease of [taken(pool, 1), new HeapLeases().allocate(BLOCK)]) {
      for (const [start, length] of [
        [-1, 1],
        [0, BLOCK + 1],
        [BLOCK, 1],
        [5, -1],
      ] as const) {
        assert.throws(() => lease.part(start, length), InvariantError);
      }
      assert.equal(lease.part(BLOCK, 0).length, 0);
    }
  });
});

describe("HeapLeases", () => {
  it("lease plain bytes that stay after release", () => {
    const leases = new HeapLeases();
    const lease = leases.allocate(10);
    const part = lease.part(2, 3);
    part.bytes[0] = 5;
    lease.retain();
    lease.release();
    lease.release();
    assert.deepEqual([lease.position, lease.length, lease.view.getUint8(2), part.length], [-1, 10, 5, 3]);
    let called = false;
    leases.onAvailable(() => {
      called = true;
    });
    assert.ok(called);
  });
});
