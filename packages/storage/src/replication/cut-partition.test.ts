import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { silentLog } from "@millrace/platform";
import { SeededRandom } from "@millrace/testkit";
import { RECORD_HEADER_LENGTH } from "../op-record/record.ts";
import { Bench, IDENTITY, kernel, PATH } from "../partition/partition-fixture.test.ts";
import { cutPartition } from "./cut-partition.ts";

/** Small enough that some ops lie in every segment. */
const SEGMENT_LENGTH_MAX = 2000;
const OPS = 40;

function cut(bench: Bench, op: number): Promise<void> {
  return cutPartition({ disk: bench.disk, path: PATH, identity: IDENTITY, kernel, log: silentLog }, op);
}

/** The op with this number of the history that a seed makes. */
async function step(bench: Bench, seed: number, at: number): Promise<void> {
  const random = new SeededRandom(seed * 1000 + at);
  const kind = random.below(12);
  if (kind < 7) {
    const texts = Array.from({ length: 1 + random.below(4) }, (_, index) =>
      `${seed} ${at} ${index}`.repeat(9),
    );
    await bench.append(texts);
  } else if (kind < 9) await bench.storeOffset(1, random.below(3) + 1, random.below(10));
  else if (kind === 9) await bench.deleteOffset(1, random.below(3) + 1);
  else if (kind === 10) await bench.truncate(Math.max(0, bench.partition.nextOffset - 10));
  else await bench.purge();
}

async function history(seed: number, ops: number, commitMax: number): Promise<Bench> {
  const bench = await Bench.open({ segmentLengthMax: SEGMENT_LENGTH_MAX });
  bench.isNumbered = true;
  bench.commitMax = commitMax;
  for (let at = 1; at <= ops; at += 1) await step(bench, seed, at);
  return bench;
}

async function seenOf(bench: Bench) {
  const { partition } = bench;
  assert.equal(partition.fault, undefined);
  const ids = partition.consumerOffsetIds(1).toSorted();
  return {
    op: partition.lastOp,
    checksum: partition.lastOpChecksum,
    nextOffset: partition.nextOffset,
    first: partition.firstOffset,
    generation: partition.purgeGeneration,
    messages: await bench.readAll(partition.firstOffset),
    offsets: ids.map((id) => [id, partition.consumerOffset(1, id)]),
    requests: Array.from({ length: partition.lastOp }, (_, at) =>
      partition.rememberedRequest((7n << 64n) | 5n, 1, BigInt(at + 1)),
    ),
  };
}

async function filesOf(bench: Bench): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const name of await bench.fileNames()) files.set(name, await bench.fileBytes(name));
  return files;
}

/** What a history is seen as at once, and after ten more ops and a kill. */
async function seenTwice(bench: Bench, seed: number) {
  bench.commitMax = Number.POSITIVE_INFINITY;
  const atOnce = await seenOf(bench);
  bench.timestamp = 5000;
  for (let at = 1; at <= 10; at += 1) await step(bench, seed + 1, at);
  await bench.kill();
  const later = await seenOf(bench);
  await bench.close();
  return { atOnce, later };
}

/** A history that is cut goes on as if what was cut had never been. */
async function cutIsForgotten(seed: number, endsWith: "kill" | "close"): Promise<void> {
  const random = new SeededRandom(seed);
  const commit = random.below(OPS);
  const keep = commit + random.below(OPS - commit + 1);
  const bench = await history(seed, OPS, commit);
  if (endsWith === "kill") {
    bench.disk = bench.disk.kill();
    await bench.abandon();
  } else await bench.close();
  await cut(bench, keep);
  await bench.open();
  const seen = await seenTwice(bench, seed);
  const expected = await seenTwice(await history(seed, keep, Number.POSITIVE_INFINITY), seed);
  assert.deepEqual(seen, expected, `seed ${seed}: cut at ${keep} of ${OPS}`);
}

describe("a partition whose last ops are cut off", () => {
  it("is as it was after the op that is kept, and goes on from there", async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      await cutIsForgotten(seed, seed % 2 === 0 ? "kill" : "close");
    }
  });

  it("is whole again when a cut that a kill interrupted anywhere is done again", async () => {
    const expected = await seenTwice(await history(4, 3, Number.POSITIVE_INFINITY), 4);
    for (let calls = 0; ; calls += 1) {
      const bench = await history(4, OPS, 3);
      await bench.close();
      let left = calls;
      bench.disk.setFaults((call) =>
        call.kind !== "read" && call.kind !== "open" && left-- <= 0
          ? { kind: "error", errno: "EIO" }
          : undefined,
      );
      const isDone = await cut(bench, 3).then(
        () => true,
        () => false,
      );
      bench.disk = bench.disk.kill();
      bench.disk.setFaults(() => undefined);
      await cut(bench, 3);
      await bench.open();
      assert.deepEqual(await seenTwice(bench, 4), expected, `after ${calls} calls`);
      if (isDone) return assert.ok(calls > 5, "several segments were taken away");
    }
  });

  it("has the ops of a segment without messages that a later one left behind", async () => {
    const bench = await history(7, 0, 3);
    await bench.append(["long ".repeat(600)]);
    for (const offset of [1, 2, 3]) await bench.storeOffset(1, 7, offset);
    await bench.append(["behind a hole"], 5);
    assert.equal(bench.partition.segmentCount, 2, "the empty one is left behind");
    await bench.close();
    await cut(bench, 3);
    bench.commitMax = Number.POSITIVE_INFINITY;
    await bench.open();
    assert.equal(bench.partition.lastOp, 3);
    assert.equal(bench.partition.consumerOffset(1, 7), 2);
    await bench.close();
  });

  it("knows what was committed though power took away how the first cut said it", async () => {
    const bench = await history(4, 0, 2);
    const keep = 5;
    for (let at = 1; bench.partition.segmentCount < 3; at += 1) await bench.append([`${at} `.repeat(100)]);
    assert.ok(bench.partition.lastOp > keep);
    bench.commitMax = keep;
    for (const at of [1, 2]) await bench.append([`${at} names what is committed`]);
    await bench.close();
    const before = await filesOf(bench);
    await cut(bench, keep);
    const after = await filesOf(bench);
    const marked = [...after.keys()].toSorted().findLast((name) => name.endsWith(".ops")) ?? "";
    const newer = [...before].filter(([name]) => name.slice(0, 20) > marked.slice(0, 20));
    assert.ok(newer.length > 0, "segments went");
    for (const [name, bytes] of newer) await bench.setFile(name, bytes);
    await bench.setFile(marked, (after.get(marked) ?? assert.fail()).fill(0, -RECORD_HEADER_LENGTH));
    await cut(bench, keep);
    await bench.openUncommitted();
    assert.deepEqual([bench.partition.lastOp, bench.partition.committedOp], [keep, keep]);
    await bench.close();
  });

  it("loses nothing when there is nothing above the op", async () => {
    const bench = await history(7, OPS, OPS);
    const before = await seenOf(bench);
    await bench.close();
    await cut(bench, OPS);
    await bench.open();
    assert.deepEqual(await seenOf(bench), before);
    await bench.close();
  });
});
