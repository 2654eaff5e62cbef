import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SeededRandom } from "@millrace/testkit";
import { Bench, name, PATH, type Seen } from "../partition/partition-fixture.test.ts";
import { isDamage, lostOffsets } from "./damage-fixture.test.ts";

const COUNT = 40;

/** Two-message batches in one segment, a stored offset in the middle; killed. */
async function written(options: ConstructorParameters<typeof Bench>[0] = {}) {
  const bench = await Bench.open({ tailLengthMax: 0, ...options });
  const all: Seen[] = [];
  for (let at = 0; at < COUNT; at += 2) {
    const texts = [`left ${at}`, `right ${at + 1}`];
    await bench.append(texts);
    for (const [index, text] of texts.entries()) all.push({ offset: at + index, text });
    if (at === 20) await bench.storeOffset(1, 7, 11);
  }
  bench.disk = bench.disk.kill();
  await bench.abandon();
  return { bench, all };
}

async function flip(bench: Bench, file: string, position: number): Promise<void> {
  const bytes = await bench.fileBytes(file);
  bytes[position] = (bytes[position] ?? 0) ^ 1;
  await bench.setFile(file, bytes);
}

/** Repaired and open, the partition takes writes behind everything seen, also after a restart. */
async function goesOn(bench: Bench, all: readonly Seen[], lost: readonly number[]): Promise<void> {
  assert.equal(bench.partition.fault, undefined);
  const next = await bench.append(["after"]);
  assert.ok(next >= COUNT, `offset ${next} was seen before`);
  for (const reopen of [() => bench.reopen(), () => bench.kill()]) {
    assert.deepEqual(await lostOffsets(bench, all), lost);
    assert.deepEqual((await bench.read(next, 1))[0], { offset: next, text: "after" });
    await reopen();
    assert.equal(bench.partition.fault, undefined, "the damage keeps nobody from writing any more");
  }
  assert.equal(await bench.append(["later"]), next + 1);
}

describe("a repair", () => {
  it("leaves a damaged batch where it is and goes on behind the last offset", async () => {
    const { bench, all } = await written();
    await flip(bench, name(0, "log"), 1000);
    await bench.open();
    assert.ok(isDamage(bench.partition.fault));
    const lost = await lostOffsets(bench, all);
    assert.equal(lost.length, 2);
    const before = await bench.fileBytes(name(0, "log"));
    await bench.reopen({ repair: "proven" });
    assert.deepEqual(bench.partition.repaired?.offsets, "proven");
    assert.equal(bench.partition.repaired?.nextOffset, COUNT);
    assert.ok(isDamage(bench.partition.repaired?.damage));
    assert.equal(bench.partition.consumerOffset(1, 7), 11);
    await goesOn(bench, all, lost);
    assert.deepEqual(await bench.fileBytes(name(0, "log")), before, "no byte is changed");
    await bench.close();
  });

  it("counts the offsets of a damaged end as seen and answers for them", async () => {
    const { bench, all } = await written();
    const { length } = await bench.fileBytes(name(0, "log"));
    await flip(bench, name(0, "log"), length - 3);
    await bench.open();
    assert.ok(isDamage(bench.partition.fault));
    await bench.reopen({ repair: "proven" });
    await goesOn(bench, all, [COUNT - 2, COUNT - 1]);
    await bench.close();
  });

  it("asks what becomes of stored offsets that the damage hides", async () => {
    for (const choice of ["known", "none"] as const) {
      const { bench, all } = await written();
      const ops = await bench.fileBytes(name(0, "ops"));
      const stored = ops.length - 9 * 128 - 144;
      await flip(bench, name(0, "ops"), stored + 130);
      await bench.open();
      assert.ok(isDamage(bench.partition.offsetsFault), "the record was the stored offset's");
      await bench.reopen({ repair: "proven" });
      assert.ok(isDamage(bench.partition.fault));
      const repaired = await bench.reopen({ repair: choice });
      assert.equal(repaired.repaired?.offsets, choice);
      assert.equal(bench.partition.consumerOffset(1, 7), undefined);
      await bench.storeOffset(1, 7, 3);
      await goesOn(bench, all, []);
      assert.equal(bench.partition.consumerOffset(1, 7), 3);
      await bench.close();
    }
  });

  it("takes a name of its own when nothing but damaged records was written", async () => {
    const bench = await Bench.open();
    for (let at = 0; at < 3; at += 1) await bench.storeOffset(1, at, 0);
    bench.disk = bench.disk.kill();
    await bench.abandon();
    const { length } = await bench.fileBytes(name(0, "ops"));
    await flip(bench, name(0, "ops"), length - 2 * 144 + 50);
    await bench.open();
    assert.ok(isDamage(bench.partition.fault));
    await bench.reopen({ repair: "known" });
    assert.equal(await bench.append(["first"]), 1);
    await bench.kill();
    assert.deepEqual(await bench.readAll(), [{ offset: 1, text: "first" }]);
    const kept = await bench.disk.readDirectory("quarantine");
    assert.ok(kept.some((entry) => entry.name.endsWith(".ops.at-0")));
    await bench.close();
  });

  it("does nothing to a partition that takes writes, nor to one opened for reading", async () => {
    const { bench, all } = await written();
    await bench.open({ repair: "none" });
    assert.equal(bench.partition.repaired, undefined);
    assert.equal(bench.partition.consumerOffset(1, 7), 11);
    assert.deepEqual(await bench.readAll(), all);
    await bench.partition.close();
    await flip(bench, name(0, "log"), 700);
    await bench.open({ repair: "known", role: "read-only" });
    assert.equal(bench.partition.repaired, undefined);
    await bench.close();
  });

  it("that a kill cuts short has lost nothing, and the next one succeeds", async () => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const { bench, all } = await written();
      await flip(bench, name(0, "log"), 1000);
      const random = new SeededRandom(seed);
      const dying = bench.disk;
      const opening = bench.open({ repair: "proven" }).catch(() => undefined);
      for (let turns = random.below(60); turns > 0; turns -= 1) await Promise.resolve();
      bench.disk = dying.kill();
      await opening;
      await bench.abandon();
      await bench.open();
      if (bench.partition.fault !== undefined) await bench.reopen({ repair: "proven" });
      const lost = await lostOffsets(bench, all);
      assert.equal(lost.length, 2);
      await goesOn(bench, all, lost);
      await bench.close();
    }
  });

  it("of any changed bit leads back to writing, and what is not named as damaged is as it was", async () => {
    const random = new SeededRandom(77);
    for (let round = 0; round < 60; round += 1) {
      const { bench, all } = await written({ segmentLengthMax: 4000 });
      const files = (await bench.fileNames()).filter((file) => /\.(log|ops)$/.test(file));
      const file = files[random.below(files.length)] ?? "";
      const { length } = await bench.fileBytes(file);
      if (length === 0) continue;
      await flip(bench, file, random.below(length));
      await bench.open();
      const faulty = bench.partition.fault !== undefined;
      const lost = await lostOffsets(bench, all);
      if (faulty) await bench.reopen({ repair: "known" });
      assert.equal(bench.partition.repaired !== undefined, faulty, `${file} in ${PATH}`);
      await goesOn(bench, all, lost);
      await bench.close();
    }
  });
});
