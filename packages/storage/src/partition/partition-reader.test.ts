import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { BlockPool, type Lease } from "@millrace/framing";
import { TailCache } from "../tail-cache/tail-cache.ts";
import { Bench, kernel } from "./partition-fixture.test.ts";

/** Everything the pool has, so that reads from disk wait. */
function takeAll(bench: Bench): Lease[] {
  const leases: Lease[] = [];
  for (let lease = bench.pool.allocate(1); lease !== undefined; lease = bench.pool.allocate(1))
    leases.push(lease);
  return leases;
}

describe("a read", () => {
  it("from the tail calls back before it returns and copies no payload", async () => {
    const bench = await Bench.open();
    await bench.append(["a".repeat(100), "b"]);
    let called = false;
    bench.partition.read({ from: { offset: 0 }, count: 10, lengthMax: 10_000 }, (error, result) => {
      assert.equal(error, undefined);
      called = true;
      assert.equal(result?.parts[0]?.buffer, kernel.memory.bytes.buffer);
      result?.release();
    });
    assert.ok(called);
    await bench.close();
  });

  it("joins disk and tail without leaving a message out", async () => {
    const bench = await Bench.open({ tailLengthMax: 2000 });
    for (let at = 0; at < 30; at += 1) await bench.append([`m${at}`, `n${at}`]);
    const result = await bench.readRaw({ from: { offset: 0 }, count: 1000, lengthMax: 1_000_000 });
    assert.equal(result.count, 60);
    result.release();
    await bench.close();
  });

  it("crosses from segment to segment up to its count", async () => {
    const bench = await Bench.open({ segmentLengthMax: 1000, tailLengthMax: 0 });
    for (let at = 0; at < 30; at += 1) await bench.append([`m${at}`]);
    for (const { lastOffset } of bench.partition.sealedSegments()) {
      const seen = await bench.read(lastOffset, 2);
      assert.deepEqual(
        seen.map(({ offset }) => offset),
        [lastOffset, lastOffset + 1],
      );
    }
    assert.equal((await bench.read(0, 25)).length, 25);
    await bench.close();
  });

  it("keeps what it takes of a batch while the pool has the cache let it go", async () => {
    const pool = new BlockPool(kernel.memory, { blockLength: 65_536, checked: true });
    const tailCache = new TailCache({ lengthMax: 1_048_576 });
    tailCache.servePool(pool);
    const bench = await Bench.open({ pool, tailCache });
    const leases = takeAll(bench);
    for (const lease of leases.splice(-3)) lease.release();
    await bench.append(["first", "second", "third"]);
    assert.ok(tailCache.length > 0);
    const reading = bench.read(1, 1);
    for (const lease of leases) lease.release();
    assert.deepEqual(await reading, [{ offset: 1, text: "second" }]);
    await bench.close();
  });

  it("shows nothing that is not committed", async () => {
    const bench = await Bench.open();
    await bench.append(["committed"]);
    const { partition } = bench;
    const commit = partition.commit.bind(partition);
    partition.commit = () => undefined;
    await bench.append(["journaled only"]);
    assert.equal(partition.committedNextOffset, 1);
    assert.equal((await bench.read(0)).length, 1);
    assert.deepEqual(await bench.read(1), []);
    commit(partition.lastOp);
    assert.equal((await bench.read(0)).length, 2);
    await bench.close();
  });

  it("gives at least one message unless that one alone exceeds the limit", async () => {
    for (const tailLengthMax of [0, 1_000_000]) {
      const bench = await Bench.open({ tailLengthMax });
      await bench.append(["x".repeat(500), "y".repeat(700)]);
      assert.equal((await bench.read(0, 10, 256 + 48 + 500)).length, 1);
      assert.equal((await bench.read(0, 10, 256 + 96 + 1199)).length, 1);
      assert.equal((await bench.read(0, 10, 256 + 96 + 1200)).length, 2);
      await assert.rejects(bench.read(1, 10, 256 + 48 + 699), (error) =>
        isCodedError(error, ErrorCode.FrameTooLarge),
      );
      await bench.close();
    }
  });

  it("of zero messages is empty", async () => {
    const bench = await Bench.open();
    await bench.append(["x"]);
    assert.deepEqual(await bench.read(0, 0), []);
    await bench.close();
  });

  it("of a batch longer than a run is served from disk", async () => {
    const bench = await Bench.open({ tailLengthMax: 0 });
    await bench.append(["small"]);
    await bench.append(Array.from({ length: 30 }, (_, at) => `${at}`.padEnd(20_000, ".")));
    await bench.append(["after"]);
    const seen = await bench.readAll();
    assert.equal(seen.length, 32);
    assert.equal((await bench.read(31, 1))[0]?.text, "after");
    await bench.close();
  });

  it("waits for a block when the pool is empty, and is served when one comes back", async () => {
    const bench = await Bench.open({ tailLengthMax: 0 });
    await bench.append(["x"]);
    const leases = takeAll(bench);
    let served = false;
    const reading = bench.read(0).then((seen) => {
      served = true;
      return seen;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(served, false);
    leases.pop()?.release();
    assert.deepEqual(await reading, [{ offset: 0, text: "x" }]);
    for (const lease of leases) lease.release();
    await bench.close();
  });

  it("that a purge overtakes gives nothing of the old history", async () => {
    const bench = await Bench.open({ tailLengthMax: 0 });
    for (let at = 0; at < 5; at += 1) await bench.append([`old ${at}`]);
    const leases = takeAll(bench);
    const reading = bench.read(0);
    await bench.purge();
    for (const lease of leases) lease.release();
    assert.deepEqual(await reading, []);
    assert.equal(await bench.append(["new"]), 0);
    assert.deepEqual(await bench.read(0), [{ offset: 0, text: "new" }]);
    await bench.close();
  });

  it("of a truncated segment comes to its end, and the next one starts at what is left", async () => {
    const bench = await Bench.open({ segmentLengthMax: 1000, tailLengthMax: 0 });
    for (let at = 0; at < 20; at += 1) await bench.append([`m${at}`]);
    const reads = Array.from({ length: 10 }, () => bench.read(0, 5));
    const mark = bench.partition.sealedSegments()[2]?.firstOffset ?? 0;
    await bench.truncate(mark);
    for (const seen of await Promise.all(reads)) {
      assert.equal(seen.length, 5);
      const offsets = seen.map(({ offset }) => offset);
      assert.deepEqual(
        offsets,
        offsets.toSorted((a, b) => a - b),
      );
    }
    assert.equal((await bench.read(0, 1))[0]?.offset, mark);
    await bench.close();
  });

  it("after the partition closed is refused", async () => {
    const bench = await Bench.open();
    await bench.close();
    await assert.rejects(bench.read(0), (error) => isCodedError(error, ErrorCode.ShuttingDown));
  });

  it("keeps its bytes although the cache let them go", async () => {
    const tailCache = new TailCache({ lengthMax: 1_000_000 });
    const bench = await Bench.open({ tailCache });
    await bench.append(["kept"]);
    const result = await bench.readRaw({ from: { offset: 0 }, count: 1, lengthMax: 10_000 });
    await bench.partition.close();
    assert.ok(bench.pool.leasesOut > 0);
    assert.ok(new TextDecoder().decode(result.parts[0]).includes("kept"));
    result.release();
    assert.equal(bench.pool.leasesOut, 0);
  });
});
