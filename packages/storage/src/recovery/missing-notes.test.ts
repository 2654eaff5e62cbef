import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SimDisk } from "@millrace/platform/sim";
import { syncUpwards } from "../data-directory/durable-directory.ts";
import { type Bench, type BenchOptions, name, PATH } from "../partition/partition-fixture.test.ts";
import { datasync } from "../segment/file-calls.ts";
import { isDamage } from "./damage-fixture.test.ts";
import {
  filled,
  kill,
  NOTE_KIND,
  NOTE_LENGTH,
  openReplica,
  remove,
  segmentsOf,
  withoutNote,
} from "./gone-fixture.test.ts";

/** Several segments as a release before left them; none is open. */
async function withoutNotes(options: BenchOptions = {}) {
  const { bench, all } = await filled(options);
  const { lastOp } = bench.partition;
  await kill(bench);
  for (const first of await segmentsOf(bench)) await withoutNote(bench, first);
  return { bench, all, lastOp };
}

/** First offsets of the segments that tell of a next one. */
async function notedBy(bench: Bench): Promise<number[]> {
  const noted: number[] = [];
  for (const first of await segmentsOf(bench)) {
    const bytes = await bench.fileBytes(name(first, "ops"));
    if (bytes[bytes.length - NOTE_LENGTH + 13] === NOTE_KIND) noted.push(first);
  }
  return noted;
}

const DURABILITIES = ["replicated", "persisted"] as const;

describe("notes that are missing in all of a partition's files", () => {
  for (const durability of DURABILITIES) {
    for (const count of [1, 2, 3]) {
      it(`are made up for: a replica misses its ${count} newest segments (${durability})`, async () => {
        const { bench, lastOp } = await withoutNotes({ isReplica: true, durability });
        await bench.open();
        assert.deepEqual(await notedBy(bench), (await segmentsOf(bench)).slice(0, -1));
        await kill(bench);
        for (const first of (await segmentsOf(bench)).slice(-count)) await remove(bench, first);
        assert.equal(await openReplica(bench), 1);
        assert.ok(bench.partition.lastOp < lastOp);
        assert.equal(bench.partition.fault, undefined);
        await bench.close();
      });

      it(`are made up for: ${count} newest segments are missed alone (${durability})`, async () => {
        const { bench, all } = await withoutNotes({ durability });
        await bench.open();
        await kill(bench);
        for (const first of (await segmentsOf(bench)).slice(-count)) await remove(bench, first);
        await bench.open();
        assert.ok(isDamage(bench.partition.fault));
        await bench.reopen({ repair: "none" });
        assert.ok((await bench.append(["after"])) >= all.length);
        await bench.close();
      });
    }

    it(`are made up for where retention took the oldest segments (${durability})`, async () => {
      const { bench } = await filled({ isReplica: true, durability });
      await bench.truncate(bench.partition.sealedSegments()[0]?.lastOffset ?? 0);
      await bench.truncate((bench.partition.sealedSegments()[0]?.lastOffset ?? 0) + 1);
      await bench.partition.filesRemoved();
      await kill(bench);
      for (const first of await segmentsOf(bench)) await withoutNote(bench, first);
      await bench.open();
      assert.deepEqual(await notedBy(bench), (await segmentsOf(bench)).slice(0, -1));
      await kill(bench);
      for (const first of (await segmentsOf(bench)).slice(-2)) await remove(bench, first);
      assert.equal(await openReplica(bench), 1);
      await bench.close();
    });

    it(`leave no gap when a start is killed or loses power (${durability})`, async () => {
      let partly = 0;
      for (let seed = 1; seed <= 80; seed += 1) {
        const disk = new SimDisk({ seed, schedule: (done) => queueMicrotask(done) });
        const { bench } = await withoutNotes({ disk, isReplica: true, durability });
        await endedWithinStart(bench, seed);
        const noted = await notedBy(bench);
        const should = (await segmentsOf(bench)).slice(0, -1);
        assert.deepEqual(noted, should.slice(0, noted.length), `seed ${seed}: the oldest are noted first`);
        if (noted.length > 0 && noted.length < should.length) partly += 1;
        await bench.open();
        assert.deepEqual(await notedBy(bench), should, `seed ${seed}`);
        await kill(bench);
      }
      assert.ok(partly > 0, "some starts had noted a part of them");
    });
  }

  it("survive a loss of power once they are made up for, also where nothing is synced", async () => {
    const { bench } = await withoutNotes({ isReplica: true });
    await syncAll(bench);
    await bench.open();
    bench.disk = bench.disk.crash({ keep: "none" });
    await bench.abandon();
    assert.deepEqual(await notedBy(bench), (await segmentsOf(bench)).slice(0, -1));
  });

  it("cost a look at one segment only once they are there", async () => {
    const { bench } = await filled({ isReplica: true });
    await kill(bench);
    const [first = 0, second = 0] = await segmentsOf(bench);
    for (const one of [first, second]) await withoutNote(bench, one);
    await bench.open();
    assert.ok(!(await notedBy(bench)).includes(first), "older ones are not looked at");
    await bench.close();
  });
});

async function syncAll(bench: Bench): Promise<void> {
  for (const one of await bench.fileNames()) {
    const file = await bench.disk.openFile(`${PATH}/${one}`, "read-write");
    await datasync(file);
    await file.close();
  }
  await syncUpwards(bench.disk, PATH);
}

/** Begins to open the partition and ends it some turns later. */
async function endedWithinStart(bench: Bench, seed: number): Promise<void> {
  await syncAll(bench);
  const opening = bench.open().catch(() => undefined);
  for (let turn = 0; turn < 2 * seed; turn += 1) {
    await new Promise((resolve) => queueMicrotask(() => resolve(0)));
  }
  bench.disk = seed % 2 === 0 ? bench.disk.kill() : bench.disk.crash({ keep: "random" });
  await opening;
  await bench.abandon();
}
