import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { faultAt } from "@millrace/platform/sim";
import { Bench, name, PATH, type Seen } from "../partition/partition-fixture.test.ts";

const OPS = name(0, "ops");

/** Six messages and a stored offset, in one segment or in several; ended by a kill. */
async function written(segmentLengthMax: number): Promise<{ bench: Bench; all: Seen[] }> {
  const bench = await Bench.open({ tailLengthMax: 0, segmentLengthMax, durability: "persisted" });
  const all: Seen[] = [];
  for (let offset = 0; offset < 6; offset += 1) {
    const text = `message ${offset}`.padEnd(700, ".");
    await bench.append([text]);
    all.push({ offset, text });
    if (offset === 3) await bench.storeOffset(1, 7, 2);
  }
  bench.disk = bench.disk.kill();
  await bench.abandon();
  return { bench, all };
}

/** Opens with every read failing once, one after the other; answers how many there were. */
async function openWithEachReadFailing(bench: Bench, check: () => Promise<void>): Promise<number> {
  for (let count = 0; ; count += 1) {
    let hasFailed = false;
    const isRead = ({ kind }: { kind: string }) => kind === "read";
    const fails = faultAt(count, isRead, { kind: "error", errno: "EIO" });
    bench.disk.setFaults((call) => {
      const fault = fails(call);
      hasFailed ||= fault !== undefined;
      return fault;
    });
    const error: unknown = await bench.open().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    bench.disk.setFaults(undefined);
    if (error === undefined) {
      await check();
      await bench.partition.close();
    } else assert.ok(isCodedError(error, ErrorCode.IoError), String(error));
    bench.disk = bench.disk.kill();
    if (!hasFailed) return count;
  }
}

describe("a read that fails while a partition is opened", () => {
  for (const segmentLengthMax of [1_000_000, 2000]) {
    it(`never opens one that knows less, with segments of ${segmentLengthMax} bytes`, async () => {
      const { bench, all } = await written(segmentLengthMax);
      const count = await openWithEachReadFailing(bench, async () => {
        assert.deepEqual(await bench.readAll(), all);
        assert.equal(bench.partition.consumerOffset(1, 7), 2);
      });
      assert.ok(count >= 3);
    });
  }

  it("never opens one that knows less when its first record is damaged too", async () => {
    const { bench, all } = await written(1_000_000);
    bench.disk.flipBit(`${PATH}/${OPS}`, 544);
    const count = await openWithEachReadFailing(bench, async () => {
      assert.notEqual(bench.partition.fault, undefined);
      assert.deepEqual(await bench.readAll(), all);
      assert.equal(bench.partition.consumerOffset(1, 7), 2);
    });
    assert.ok(count >= 3);
  });

  it("never opens one that knows less when its tail is torn", async () => {
    const { bench, all } = await written(1_000_000);
    const ops = await bench.fileBytes(OPS);
    await bench.setFile(OPS, ops.subarray(0, ops.length - 50));
    const count = await openWithEachReadFailing(bench, async () => {
      assert.deepEqual(await bench.readAll(), all.slice(0, -1));
      assert.equal(bench.partition.consumerOffset(1, 7), 2);
    });
    assert.ok(count >= 3);
  });
});
