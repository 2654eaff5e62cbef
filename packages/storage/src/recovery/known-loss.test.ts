import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SimDisk, SimRandom } from "@millrace/platform/sim";
import { syncUpwards } from "../data-directory/durable-directory.ts";
import { Bench, name, PATH, type Seen } from "../partition/partition-fixture.test.ts";
import { lostOffsets } from "./damage-fixture.test.ts";

const LOG = name(0, "log");
const SEEDS = 150;
/** Some batches each. */
const SEGMENT_LENGTH = 6000;

/** What one replica of a topic that syncs nothing wrote, in some segments, before its power fails. */
async function written(seed: number) {
  const random = new SimRandom(seed);
  const options = { isReplica: true, segmentLengthMax: SEGMENT_LENGTH, tailLengthMax: 0 } as const;
  const bench = await Bench.open(options);
  const all: Seen[] = [];
  const count = 10 + random.below(40);
  while (all.length < count) {
    const texts = Array.from({ length: 1 + random.below(3) }, (_, at) =>
      `${all.length + at}`.padEnd(1 + random.below(900), "-"),
    );
    const base = await bench.append(texts);
    for (const [at, text] of texts.entries()) all.push({ offset: base + at, text });
    if (random.below(4) === 0) await bench.storeOffset(1, random.below(3), base);
  }
  // Systems write names by themselves after some seconds; contents may take longer.
  await syncUpwards(bench.disk, PATH);
  bench.disk = bench.disk.crash();
  await bench.abandon();
  return { bench, all };
}

describe("a replica whose machine lost power", () => {
  it("has every message up to where its journal ends", async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { bench, all } = await written(seed);
      await bench.open({ isLossKnown: true });
      await assertComplete(bench, all);
    }
  });

  it("has every message of a topic that syncs them, and a part of the offsets that it does not sync", async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const random = new SimRandom(seed);
      const options = { isReplica: true, durability: "persisted", tailLengthMax: 0 } as const;
      const bench = await Bench.open({ ...options, disk: new SimDisk({ seed }) });
      const count = 1 + random.below(5);
      for (let at = 0; at < count; at += 1) await bench.append([`message ${at}`]);
      const stored = 1 + random.below(30);
      for (let at = 0; at < stored; at += 1) await bench.storeOffset(1, at, 0);
      bench.disk = bench.disk.crash();
      await bench.abandon();
      await bench.open({ isLossKnown: true });
      const { partition } = bench;
      const where = `seed ${seed}`;
      assert.deepEqual([partition.fault, partition.committedNextOffset], [undefined, count], where);
      await bench.close();
    }
  });

  it("has every message up to where its journal ends, though a clean close was noted behind that", async () => {
    const bench = await Bench.open({ isReplica: true, tailLengthMax: 0 });
    const all: Seen[] = [];
    while (all.length < 500) {
      const text = `${all.length}`.padEnd(1000, "-");
      all.push({ offset: await bench.append([text]), text });
    }
    await bench.close();
    const log = await bench.fileBytes(LOG);
    await bench.setFile(LOG, log.slice().fill(0, 10_240, 10_752));
    await bench.open({ isLossKnown: true });
    assert.ok(bench.partition.committedNextOffset < 20);
    await assertComplete(bench, all);
  });
});

async function assertComplete(bench: Bench, all: readonly Seen[]): Promise<void> {
  const { partition } = bench;
  assert.equal(partition.fault, undefined);
  const kept = all.filter(({ offset }) => offset < partition.committedNextOffset);
  assert.deepEqual(await lostOffsets(bench, kept), []);
  const next = all[kept.length];
  if (next !== undefined) assert.equal(await bench.append([next.text]), next.offset);
  await bench.close();
}
