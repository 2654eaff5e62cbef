import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Bench } from "../partition/partition-fixture.test.ts";

const OPS = 400;

async function readOp(bench: Bench, op: number): Promise<number | undefined> {
  const stored = await bench.partition.readPrepare(op);
  stored?.batchLease?.release();
  return stored?.header.op;
}

describe("many ops read back for another replica", () => {
  it("cost a read each for their batches, and few for their records.", async () => {
    const bench = await Bench.open();
    for (let at = 0; at < OPS; at += 1) await bench.append([`${at}`]);
    await readOp(bench, 1);
    let calls = 0;
    bench.disk.setFaults(() => {
      calls += 1;
      return undefined;
    });
    const ops = Array.from({ length: 120 }, (_, at) => 2 + at);
    assert.deepEqual(await Promise.all(ops.map((op) => readOp(bench, op))), ops);
    for (let op = 122; op <= OPS; op += 1) assert.equal(await readOp(bench, op), op);
    assert.ok(calls >= OPS - 1 && calls < OPS + 20, `${calls} calls`);
    await bench.append(["later"]);
    assert.equal(await readOp(bench, OPS + 1), OPS + 1);
    assert.equal(await readOp(bench, 3), 3);
    bench.disk.setFaults(undefined);
    await bench.close();
  });
});
