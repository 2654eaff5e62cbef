import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { type DiskCall, faultAt } from "@millrace/platform/sim";
import { syncUpwards } from "../data-directory/durable-directory.ts";
import { Bench, name, PATH, type Seen } from "../partition/partition-fixture.test.ts";
import { isDamage, lostOffsets } from "./damage-fixture.test.ts";

type Change = "gone" | "empty" | "first record";

/** Thirty messages, the offset of every fifth stored; `start` is the active segment's. Ended by a kill. */
async function written(segmentLengthMax: number) {
  const bench = await Bench.open({ tailLengthMax: 0, segmentLengthMax });
  const all: Seen[] = [];
  for (let offset = 0; offset < 30; offset += 1) {
    all.push({ offset, text: `message ${offset}`.padEnd(200, "-") });
    await bench.append([all[offset]?.text ?? ""]);
    if (offset % 5 === 0) await bench.storeOffset(1, offset % 10, offset);
  }
  const start = (bench.partition.sealedSegments().at(-1)?.lastOffset ?? -1) + 1;
  return { bench, all, start };
}

async function stop(bench: Bench, clean: boolean): Promise<void> {
  if (clean) return bench.close();
  bench.disk = bench.disk.kill();
  await bench.abandon();
}

async function change(bench: Bench, start: number, how: Change): Promise<void> {
  const file = name(start, "ops");
  if (how === "gone") await bench.disk.removeFile(`${PATH}/${file}`);
  else if (how === "empty") await bench.setFile(file, new Uint8Array());
  else bench.disk.flipBit(`${PATH}/${file}`, 8 * 130);
}

async function assertFenced(bench: Bench): Promise<void> {
  assert.ok(isDamage(bench.partition.fault));
  await assert.rejects(bench.append(["no"]), isDamage);
  await assert.rejects(bench.storeOffset(1, 1, 1), isDamage);
  const told = bench.lines.filter(({ message }) => message.includes("takes no writes"));
  assert.equal(told.length, 1, "the damage is told once");
}

function assertOffsetsUnknown(bench: Bench): void {
  assert.ok(isDamage(bench.partition.offsetsFault));
  assert.throws(() => bench.partition.consumerOffset(1, 0), isDamage);
  assert.throws(() => bench.partition.consumerOffset(1, 99), isDamage);
}

describe("op records of the active segment that are gone", () => {
  it("leave the offsets unknown and every message readable", async () => {
    for (const clean of [true, false]) {
      for (const how of ["gone", "empty"] as const) {
        for (const segmentLengthMax of [3000, 1_000_000]) {
          const { bench, all, start } = await written(segmentLengthMax);
          await stop(bench, clean);
          await change(bench, start, how);
          await bench.open();
          await assertFenced(bench);
          assertOffsetsUnknown(bench);
          assert.deepEqual(await bench.readAll(), all);
          for (const { offset } of all) assert.equal((await bench.read(offset, 1))[0]?.offset, offset);
          await bench.close();
        }
      }
    }
  });

  it("leave damage where the log itself does not verify", async () => {
    const { bench, all, start } = await written(1_000_000);
    await stop(bench, false);
    await change(bench, start, "gone");
    bench.disk.flipBit(`${PATH}/${name(start, "log")}`, 8 * 5000);
    await bench.open();
    assertOffsetsUnknown(bench);
    const good = await bench.read(0);
    assert.deepEqual(good, all.slice(0, good.length));
    assert.ok(good.length > 5 && good.length < all.length);
    await assert.rejects(bench.read(good.length), isDamage);
    await bench.close();
  });

  it("are never taken for a new partition when the name says that there was one", async () => {
    for (const how of ["gone", "empty"] as const) {
      const { bench, start } = await written(3000);
      await bench.append(["last of its segment".padEnd(3000, ".")]);
      await bench.append(["alone"]);
      const last = (bench.partition.sealedSegments().at(-1)?.lastOffset ?? 0) + 1;
      assert.ok(last > start);
      await bench.truncate(last);
      await stop(bench, false);
      await change(bench, last, how);
      await bench.setFile(name(last, "log"), new Uint8Array());
      for (const file of await bench.fileNames())
        if (!file.startsWith(String(last).padStart(20, "0"))) await bench.disk.removeFile(`${PATH}/${file}`);
      await bench.open();
      await assertFenced(bench);
      assertOffsetsUnknown(bench);
      assert.ok(bench.partition.nextOffset > last);
      await assert.rejects(bench.read(last), isDamage);
      await bench.close();
    }
  });
});

describe("a first record that is damaged", () => {
  it("is made up for by the segment before, or by the partition's beginning", async () => {
    for (const clean of [true, false]) {
      for (const segmentLengthMax of [3000, 1_000_000]) {
        const { bench, all, start } = await written(segmentLengthMax);
        await stop(bench, clean);
        await change(bench, start, "first record");
        await bench.open();
        await assertFenced(bench);
        assert.equal(bench.partition.offsetsFault, undefined);
        assert.equal(bench.partition.consumerOffset(1, 0), 20);
        assert.equal(bench.partition.consumerOffset(1, 5), 25);
        assert.deepEqual(await bench.readAll(), all);
        assert.equal(bench.partition.nextOffset, all.length);
        await bench.close();
      }
    }
  });

  it("of a new generation leaves the offsets unknown once what was before it is removed", async () => {
    const { bench } = await written(3000);
    await bench.purge();
    await bench.append(["first of its generation"]);
    await bench.storeOffset(1, 4, 0);
    await stop(bench, false);
    for (const file of (await bench.fileNames()).filter((one) => !one.includes(".g1.")))
      await bench.disk.removeFile(`${PATH}/${file}`);
    bench.disk.flipBit(`${PATH}/${name(0, "ops", 1)}`, 8 * 130);
    await bench.open();
    await assertFenced(bench);
    assert.equal(bench.partition.purgeGeneration, 1);
    assertOffsetsUnknown(bench);
    assert.deepEqual(await bench.readAll(), [{ offset: 0, text: "first of its generation" }]);
    await bench.close();
  });

  it("proves nothing when the first op behind it is damaged too", async () => {
    const { bench, all, start } = await written(3000);
    await stop(bench, false);
    const ops = await bench.fileBytes(name(start, "ops"));
    const bodyLength = new DataView(ops.buffer, ops.byteOffset).getUint32(112, true);
    await change(bench, start, "first record");
    bench.disk.flipBit(`${PATH}/${name(start, "ops")}`, 8 * (128 + bodyLength + 40));
    await bench.open();
    await assertFenced(bench);
    assertOffsetsUnknown(bench);
    assert.deepEqual(await bench.readAll(), all);
    await bench.close();
  });

  it("says nothing about offsets that the next segment's name claims, when that one's is damaged too", async () => {
    const bench = await Bench.open({ tailLengthMax: 0 });
    await bench.append(["before the purge"]);
    bench.commitMax = 1;
    await bench.purge();
    await bench.append(["first"]);
    await stop(bench, false);
    bench.commitMax = Number.POSITIVE_INFINITY;
    // The removal of what was purged is under way; behind the message lies the beginning of a batch.
    await bench.disk.removeFile(`${PATH}/${name(0, "log")}`);
    const first = name(0, "log", 1);
    const log = await bench.fileBytes(first);
    await bench.setFile(first, Uint8Array.from([...log, ...log.subarray(0, 200)]));
    bench.disk.flipBit(`${PATH}/${name(0, "ops", 1)}`, 8 * 130);
    await bench.open({ repair: "known" });
    const all = ["first", "second", "third"].map((text, offset) => ({ offset, text }));
    assert.equal(await bench.append(["second", "third"]), 1);
    await bench.partition.filesRemoved();
    await stop(bench, false);
    bench.disk.flipBit(`${PATH}/${name(1, "ops", 1)}`, 8 * 130);
    await bench.open();
    assert.ok(isDamage(bench.partition.fault));
    assert.deepEqual(await lostOffsets(bench, all), []);
    assert.equal(bench.partition.nextOffset, 3);
    await bench.close();
  });

  it("behind a hole is never taken for an unfinished roll: offsets that were seen are not given again", async () => {
    for (const clean of [true, false]) {
      const { bench, all, start } = await written(3000);
      await stop(bench, false);
      // Power loss took the records of the active segment's batches; those tell which offsets were given.
      const ops = await bench.fileBytes(name(start, "ops"));
      const firstLength = 128 + new DataView(ops.buffer, ops.byteOffset).getUint32(112, true);
      await bench.setFile(name(start, "ops"), ops.subarray(0, firstLength));
      await bench.open();
      assert.equal(bench.partition.nextOffset, all.length);
      await bench.partition.filesRemoved();
      await stop(bench, clean);
      await change(bench, all.length, "first record");
      await bench.open();
      assert.ok(isDamage(bench.partition.fault));
      assertOffsetsUnknown(bench);
      assert.ok(bench.partition.nextOffset >= all.length, `${bench.partition.nextOffset} is given again`);
      await bench.reopen({ repair: "known" });
      assert.ok((await bench.append(["behind the hole"])) >= all.length);
      await bench.close();
    }
  });

  it("goes on from a removed segment that power loss brought back without its messages", async () => {
    const { bench, all, start } = await written(3000);
    await stop(bench, false);
    const ops = await bench.fileBytes(name(start, "ops"));
    const firstLength = 128 + new DataView(ops.buffer, ops.byteOffset).getUint32(112, true);
    await bench.setFile(name(start, "ops"), ops.slice(0, firstLength));
    await bench.open();
    const removed = name(all.length, "ops");
    const firstRecord = await bench.fileBytes(removed);
    const behind = { offset: all.length + 5, text: "behind another hole" };
    assert.equal(await bench.append([behind.text], 5), behind.offset);
    await bench.partition.filesRemoved();
    assert.ok(!(await bench.fileNames()).includes(removed), "a segment without messages is removed");
    await stop(bench, false);
    await bench.setFile(removed, firstRecord);
    await change(bench, behind.offset, "first record");
    await bench.open();
    await assertFenced(bench);
    assert.equal(bench.partition.offsetsFault, undefined);
    for (let offset = start; offset <= behind.offset; offset += 1)
      assert.deepEqual(await bench.read(offset, 1), [behind], `from the offset ${offset}, which is gone`);
    assert.deepEqual(await bench.readAll(), [...all.slice(0, start), behind]);
    await bench.close();
  });

  it("never brings back what was cut from the end of a segment that was removed for it", async () => {
    for (const isCut of [true, false]) {
      const bench = await Bench.open({ tailLengthMax: 0, offsetDurability: "persisted" });
      await syncUpwards(bench.disk, PATH);
      await bench.append(["lost"]);
      await bench.storeOffset(1, 7, 0);
      await stop(bench, false);
      // Power loss took the batch and left the records: the offset was stored behind something that is gone.
      const [log, ops] = [await bench.fileBytes(name(0, "log")), await bench.fileBytes(name(0, "ops"))];
      await bench.setFile(name(0, "log"), new Uint8Array(log.length));
      await bench.open();
      assert.equal(bench.partition.consumerOffset(1, 7), undefined);
      await bench.partition.filesRemoved();
      bench.disk = bench.disk.crash({ keep: "none" });
      await bench.abandon();
      const names = await bench.fileNames();
      assert.ok(names.includes(name(0, "ops")) && !names.includes(name(0, "log")), names.join());
      assert.ok(
        (await bench.fileBytes(name(0, "ops"))).length < ops.length,
        "it was cut before it was removed",
      );
      // Had the process died before the cut, and another one removed the segment:
      if (!isCut) await bench.setFile(name(0, "ops"), ops);
      await change(bench, 1, "first record");
      await bench.open();
      await assertFenced(bench);
      assertOffsetsUnknown(bench);
      assert.ok(bench.partition.nextOffset > 1, "no offset is given again");
      await bench.close();
    }
  });

  it("that a kill or power loss cut short is no damage: the segment before is complete", async () => {
    for (const left of [
      (bytes: Uint8Array) => bytes.subarray(0, 140),
      (bytes: Uint8Array) => bytes.fill(0),
    ]) {
      const { bench, all, start } = await written(3000);
      await stop(bench, false);
      const ops = await bench.fileBytes(name(start, "ops"));
      const firstLength = 128 + new DataView(ops.buffer, ops.byteOffset).getUint32(112, true);
      await bench.setFile(name(all.length, "ops"), left(ops.slice(0, firstLength)));
      await bench.open();
      assert.equal(bench.partition.fault, undefined);
      assert.deepEqual(await bench.readAll(), all);
      await bench.close();
    }
  });
});

describe("a segment that the disk does not read to its end", () => {
  it("keeps the partition closed: nothing is served or repaired by half of what there is", async () => {
    const { bench, all, start } = await written(1_000_000);
    await stop(bench, false);
    await change(bench, start, "first record");
    const isOps = ({ kind, path }: DiskCall) => kind === "open" && path.endsWith(name(start, "ops"));
    let failures = 0;
    for (let count = 0; count < 20; count += 1) {
      bench.disk.setFaults(faultAt(count, isOps, { kind: "error", errno: "EIO" }));
      const opened = await bench.open({ repair: "known" }).then(
        () => true,
        (error: unknown) => {
          assert.ok(isCodedError(error, ErrorCode.IoError));
          return false;
        },
      );
      if (!opened) {
        failures += 1;
        continue;
      }
      bench.disk.setFaults(undefined);
      assert.deepEqual(await bench.readAll(), all);
      assert.ok((await bench.append(["behind it"])) >= all.length, "no offset is given twice");
      await bench.close();
      break;
    }
    assert.ok(failures >= 3, "the file is opened to find a base, its first op, and to replay it");
  });
});
