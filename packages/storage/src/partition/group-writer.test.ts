import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type DiskCall, SimDisk } from "@millrace/platform/sim";
import { Bench, name } from "./partition-fixture.test.ts";

/** Calls the disk got while `action` ran. */
async function callsOf(bench: Bench, action: () => Promise<unknown>): Promise<DiskCall[]> {
  const calls: DiskCall[] = [];
  bench.disk.setFaults((call) => {
    calls.push(call);
    return undefined;
  });
  await action();
  bench.disk.setFaults(undefined);
  return calls;
}

function writesTo(calls: readonly DiskCall[], ending: string): DiskCall[] {
  return calls.filter((call) => call.kind === "write" && call.path.endsWith(ending));
}

describe("a long segment", () => {
  it("is synced near its end while a replica writes it, and as a whole before the next one begins", async () => {
    const text = "x".repeat(1_000_000);
    for (const isReplica of [true, false]) {
      const bench = await Bench.open({ isReplica, tailLengthMax: 0, segmentLengthMax: 70_000_000 });
      const calls = await callsOf(bench, async () => {
        for (let count = 0; count < 72; count += 1) await bench.append([text]);
      });
      const isNext = ({ path }: DiskCall) => path.endsWith(`${name(70, "ops")}`);
      const first = calls.findIndex((call) => call.kind === "write" && isNext(call));
      assert.ok(first > 0);
      const syncs = calls
        .slice(0, first)
        .filter(({ kind, path }) => kind === "datasync" && path.endsWith(".log"));
      // With a quarter left of it, a sixteenth and a sixty-fourth, and when it is full.
      assert.equal(syncs.length, isReplica ? 4 : 0);
      await bench.close();
    }
  });
});

describe("a group", () => {
  it("carries everything that queued in one event: one write to each file", async () => {
    const bench = await Bench.open();
    const calls = await callsOf(bench, () =>
      Promise.all(Array.from({ length: 50 }, (_, at) => bench.append([`message ${at}`]))),
    );
    assert.equal(writesTo(calls, ".log").length, 1);
    assert.equal(writesTo(calls, ".ops").length, 1);
    assert.equal(writesTo(calls, ".ops")[0]?.length, 50 * 128);
    await bench.close();
  });

  it("takes at most eight large batches", async () => {
    const bench = await Bench.open();
    const text = "x".repeat(17_000);
    const calls = await callsOf(bench, () =>
      Promise.all(Array.from({ length: 20 }, () => bench.append([text]))),
    );
    assert.deepEqual(
      writesTo(calls, ".ops").map((call) => call.length / 128),
      [8, 8, 4],
    );
    await bench.close();
  });

  it("begins when the disk says so where its first batch is large, and carries what came until then", async () => {
    const begins: (() => void)[] = [];
    const gather = (callback: () => void) => void begins.push(callback);
    const bench = await Bench.open({ disk: Object.assign(new SimDisk({ seed: 3 }), { gather }) });
    const text = "x".repeat(17_000);
    const calls = await callsOf(bench, async () => {
      const appended = Array.from({ length: 3 }, () => bench.append([text]));
      await new Promise(setImmediate);
      appended.push(bench.append(["small"]));
      assert.equal(begins.length, 1);
      begins.pop()?.();
      await Promise.all(appended);
    });
    assert.deepEqual(
      writesTo(calls, ".ops").map((call) => call.length / 128),
      [4],
    );
    assert.equal((await callsOf(bench, () => bench.append(["small"]))).length, 2);
    assert.equal(begins.length, 0);
    await bench.close();
  });

  it("of stored offsets alone writes no log", async () => {
    const bench = await Bench.open();
    await bench.append(["x"]);
    const calls = await callsOf(bench, () => bench.storeOffset(1, 2, 0));
    assert.equal(writesTo(calls, ".log").length, 0);
    assert.equal(writesTo(calls, ".ops").length, 1);
    await bench.close();
  });

  it("syncs both files once, and only where the topic asks for it", async () => {
    const cases = [
      ["replicated", "replicated", 0, 0],
      ["persisted", "replicated", 2, 0],
      ["replicated", "persisted", 0, 2],
    ] as const;
    for (const [durability, offsetDurability, forBatches, forOffsets] of cases) {
      const bench = await Bench.open({ durability, offsetDurability });
      await bench.append(["first"]);
      const batches = await callsOf(bench, () => Promise.all([bench.append(["a"]), bench.append(["b"])]));
      const offsets = await callsOf(bench, () => bench.storeOffset(1, 1, 0));
      const syncs = (calls: DiskCall[]) => calls.filter((call) => call.kind === "datasync").length;
      assert.deepEqual(
        [syncs(batches), syncs(offsets)],
        [forBatches, forOffsets],
        `${durability}/${offsetDurability}`,
      );
      await bench.close();
    }
  });

  it("is answered only after its sync came back", async () => {
    const bench = await Bench.open({ durability: "persisted" });
    let synced = 0;
    let answeredAt = -1;
    const { disk } = bench;
    disk.setFaults((call) => {
      if (call.kind === "datasync") synced += 1;
      return undefined;
    });
    await bench.append(["x"]).then(() => {
      answeredAt = synced;
    });
    assert.ok(answeredAt >= 2);
    bench.disk = disk.crash({ keep: "none" });
    await bench.abandon();
    await bench.open();
    assert.equal((await bench.readAll()).length, 1);
    await bench.close();
  });

  it("of thousands of tiny batches is written without loss (B-03)", async () => {
    const bench = await Bench.open({ tailLengthMax: 100_000 });
    const count = 5000;
    const done = Array.from({ length: count }, () => bench.append(["1"]));
    await Promise.all(done);
    assert.equal(bench.partition.messageCount, count);
    assert.equal((await bench.readAll()).length, count);
    await bench.close();
  });
});
