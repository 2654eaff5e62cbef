import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SimDisk } from "@millrace/platform/sim";
import { SeededRandom } from "@millrace/testkit";
import { syncUpwards } from "../data-directory/durable-directory.ts";
import { Bench, type BenchOptions, name, PATH } from "../partition/partition-fixture.test.ts";
import { isDamage, lostOffsets } from "./damage-fixture.test.ts";
import {
  type End,
  filled,
  kill,
  NOTE_KIND,
  NOTE_LENGTH,
  remove,
  segmentsOf,
  withoutNote,
} from "./gone-fixture.test.ts";

const loseRest: End = async (bench) => {
  bench.disk = bench.disk.crash({ keep: "none" });
  await bench.abandon();
};
const stop: End = (bench) => bench.close();

const WAYS: readonly (readonly [string, BenchOptions, End])[] = [
  ["killed", {}, kill],
  ["stopped", {}, stop],
  ["killed, everything synced", { durability: "persisted" }, kill],
  ["without power, everything synced", { durability: "persisted" }, loseRest],
];

describe("the newest of several segments, gone with its files,", () => {
  for (const [how, options, end] of WAYS) {
    it(`is damage of the partition (${how}), and a repair gives no offset out again`, async () => {
      const { bench, all } = await filled(options);
      await end(bench);
      const last = (await segmentsOf(bench)).at(-1) ?? 0;
      await remove(bench, last);
      await bench.open();
      assert.ok(isDamage(bench.partition.fault));
      assert.ok(isDamage(bench.partition.offsetsFault), "an offset may have been stored in it");
      await assert.rejects(bench.append(["more"]), isDamage);
      assert.deepEqual(
        await lostOffsets(
          bench,
          all.filter(({ offset }) => offset <= last),
        ),
        [last],
      );
      const { damages } = await bench.partition.verify({
        from: { segment: 0, opsPosition: 0, logPosition: 0 },
        lengthMax: 1e9,
      });
      assert.deepEqual(
        damages.map(({ kind, path }) => [kind, path]),
        [["missing", `${PATH}/${name(last, "ops")}`]],
      );
      await bench.reopen({ repair: "known" });
      assert.equal(bench.partition.fault, undefined);
      const next = await bench.append(["after"]);
      assert.ok(next >= all.length, `offset ${next} was given out before`);
      await bench.kill();
      assert.equal(bench.partition.fault, undefined);
      assert.deepEqual(await bench.read(next), [{ offset: next, text: "after" }]);
      await assert.rejects(bench.read(last), isDamage);
      await bench.close();
    });
  }

  it("is noticed though it held no message, and when only its records are gone", async () => {
    for (const kinds of [["log", "ops"], ["ops"]]) {
      const { bench, all } = await filled({ segmentLengthMax: 1, durability: "persisted" });
      await bench.partition.filesRemoved();
      await bench.storeOffset(1, 7, 2);
      const count = all.length;
      await kill(bench);
      const last = (await segmentsOf(bench)).at(-1) ?? 0;
      await remove(bench, last, kinds);
      await bench.open();
      assert.ok(isDamage(bench.partition.fault), `${kinds}: ${last} of ${count}`);
      await bench.close();
    }
  });

  it("is noticed when the one before is gone too, and a repair gives no offset out again", async () => {
    const { bench, all } = await filled();
    await kill(bench);
    for (const first of (await segmentsOf(bench)).slice(-2)) await remove(bench, first);
    await bench.open();
    assert.ok(isDamage(bench.partition.fault));
    await bench.reopen({ repair: "none" });
    assert.ok((await bench.append(["after"])) >= all.length);
    await bench.close();
  });

  it("is noticed behind a purge that is not known to be committed", async () => {
    const { bench } = await filled({ durability: "persisted" });
    bench.commitMax = bench.partition.lastOp;
    await bench.purge();
    bench.disk = bench.disk.kill();
    await bench.abandon();
    for (const kind of ["log", "ops"]) await bench.disk.removeFile(`${PATH}/${name(0, kind, 1)}`);
    await bench.open();
    assert.ok(isDamage(bench.partition.fault));
    await bench.close();
  });

  it("is told to a replica before it changes anything, and its journal goes on with what is there", async () => {
    const { bench, all } = await filled({ isReplica: true });
    await kill(bench);
    const last = (await segmentsOf(bench)).at(-1) ?? 0;
    await remove(bench, last);
    let told = 0;
    const onSegmentGone = async () => {
      told += 1;
    };
    const noFiles = bench.openUncommitted({
      onSegmentGone: () => Promise.reject(new Error("cannot be noted")),
    });
    await assert.rejects(noFiles, /cannot be noted/);
    assert.deepEqual(
      (await segmentsOf(bench)).filter((first) => first >= last),
      [],
    );
    await bench.open({ onSegmentGone });
    assert.deepEqual([told, bench.partition.fault, bench.partition.nextOffset], [1, undefined, last]);
    for (const { text } of all.slice(last)) await bench.append([text]);
    assert.deepEqual(await bench.readAll(), all);
    await kill(bench);
    await bench.open({ onSegmentGone });
    assert.equal(told, 1, "what came again is all there was");
    assert.deepEqual(await bench.readAll(), all);
    await bench.close();
  });

  it("is not told of to a replica that fetches what is left", async () => {
    const { bench, all } = await filled({ isReplica: true });
    await kill(bench);
    const last = (await segmentsOf(bench)).at(-1) ?? 0;
    await remove(bench, last);
    await bench.open();
    const { files = [] } = (await bench.partition.describeState()) ?? {};
    const given = new Map<string, Uint8Array>();
    for (const { name: one, length } of files) given.set(one, (await bench.fileBytes(one)).slice(0, length));
    await bench.close();
    for (const one of await bench.fileNames()) await bench.disk.removeFile(`${PATH}/${one}`);
    for (const [one, bytes] of given) await bench.setFile(one, bytes);
    await bench.open({ onSegmentGone: () => Promise.reject(new Error("nothing is gone here")) });
    assert.equal(bench.partition.fault, undefined);
    assert.deepEqual(
      await bench.readAll(),
      all.filter(({ offset }) => offset < last),
    );
    await bench.close();
  });

  it("is damage that can be named where the messages of the one before are gone too", async () => {
    const { bench } = await filled({ isReplica: true });
    await kill(bench);
    const [before = 0, last = 0] = (await segmentsOf(bench)).slice(-2);
    await remove(bench, last);
    await remove(bench, before, ["log", "index"]);
    await bench.open();
    assert.ok(isDamage(bench.partition.fault));
    await assert.rejects(bench.partition.readPrepare(bench.partition.lastOp), isDamage);
    await bench.close();
  });

  it("is noticed in files that were written without such notes once they were opened", async () => {
    const { bench } = await filled();
    await kill(bench);
    for (const first of await segmentsOf(bench)) await withoutNote(bench, first);
    await bench.open();
    assert.equal(bench.partition.fault, undefined);
    await kill(bench);
    await remove(bench, (await segmentsOf(bench)).at(-1) ?? 0);
    await bench.open();
    assert.ok(isDamage(bench.partition.fault));
    await bench.close();
  });
});

describe("a note that a segment was begun", () => {
  it("is written anew when it was torn, and every one is there for each segment but the newest", async () => {
    for (const torn of [(note: Uint8Array) => note.subarray(0, 40), (note: Uint8Array) => note.fill(0)]) {
      const { bench } = await filled();
      await kill(bench);
      const before = (await segmentsOf(bench)).at(-2) ?? 0;
      const whole = await bench.fileBytes(name(before, "ops"));
      assert.equal(whole[whole.length - NOTE_LENGTH + 13], NOTE_KIND);
      const records = whole.subarray(0, -NOTE_LENGTH);
      const rest = torn(whole.slice(-NOTE_LENGTH));
      await bench.setFile(name(before, "ops"), Uint8Array.from([...records, ...rest]));
      await bench.open();
      assert.deepEqual(await bench.fileBytes(name(before, "ops")), whole);
      await bench.close();
    }
  });

  it("is no word any more once the journal went on in front of it", async () => {
    const { bench } = await filled({ isReplica: true });
    await kill(bench);
    await remove(bench, (await segmentsOf(bench)).at(-1) ?? 0);
    await bench.open();
    await bench.storeOffset(1, 7, 2);
    const { lastOp } = bench.partition;
    await kill(bench);
    let told = 0;
    const onSegmentGone = async () => {
      told += 1;
    };
    await bench.openUncommitted({ onSegmentGone });
    assert.deepEqual([told, bench.partition.lastOp, bench.partition.fault], [0, lastOp, undefined]);
    await bench.close();
  });
});

describe("a segment that was begun", () => {
  for (const isReplica of [false, true]) {
    for (const durability of ["replicated", "persisted"] as const) {
      const who = `${isReplica ? "of a replica" : "alone"}, ${durability}`;
      it(`is no damage whenever a kill or power loss comes (${who})`, async () => {
        for (let seed = 1; seed <= 140; seed += 1) {
          const { bench, told } = await endedInRoll(seed, { durability, isReplica });
          const isSynced = durability === "persisted" || seed % 3 === 0;
          const where = `${who}, seed ${seed}`;
          if (isSynced || seed % 3 === 1) assert.equal(bench.partition.fault, undefined, where);
          if (isSynced) assert.equal(told, 0, where);
          assert.equal(bench.partition.offsetsFault, undefined, where);
          await bench.close();
        }
      });
    }
  }
});

/** A partition that was ended some turns after an append that begins a segment, and is open again. */
async function endedInRoll(seed: number, options: BenchOptions) {
  const random = new SeededRandom(seed);
  const inTurns = (left: number, done: () => void) =>
    left === 0 ? done() : queueMicrotask(() => inTurns(left - 1, done));
  const disk = new SimDisk({ seed, schedule: (done) => inTurns(1 + random.below(4) ** 4, done) });
  const bench = await Bench.open({ segmentLengthMax: 1, tailLengthMax: 0, disk, ...options });
  await syncUpwards(disk, PATH);
  for (let at = 0; at < 3; at += 1) await bench.append([`message ${at}`]);
  await bench.partition.filesRemoved();
  void bench.append(["last"]).catch(() => undefined);
  for (let turn = 0; turn < 8 * (seed % 70); turn += 1)
    await new Promise((resolve) => queueMicrotask(() => resolve(0)));
  const keep = seed % 3 === 1 ? "none" : "random";
  bench.disk = seed % 3 === 0 ? bench.disk.kill() : bench.disk.crash({ keep });
  await bench.abandon();
  let told = 0;
  const onSegmentGone = async () => {
    told += 1;
  };
  await bench.open({ onSegmentGone });
  return { bench, told };
}

it("Segments that go by retention, one or all of them but the newest, leave nothing that is missed.", async () => {
  for (const share of [1, 2, 3]) {
    const { bench, all } = await filled();
    const mark = bench.partition.sealedSegments()[share - 1]?.lastOffset ?? 0;
    await bench.truncate(mark + 1);
    await bench.partition.filesRemoved();
    await bench.kill();
    assert.equal(bench.partition.fault, undefined);
    assert.deepEqual(await bench.readAll(mark + 1), all.slice(mark + 1));
    await bench.close();
  }
});
