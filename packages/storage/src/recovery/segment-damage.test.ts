import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { batchLengthAt } from "@millrace/framing";
import { Bench, name, PATH, type Seen } from "../partition/partition-fixture.test.ts";
import { isDamage, lostOffsets } from "./damage-fixture.test.ts";

/** Messages written. */
const COUNT = 50;

/** Messages over several segments; closed. */
async function written(
  options: { clean?: boolean } = {},
): Promise<{ bench: Bench; all: Seen[]; starts: number[] }> {
  const bench = await Bench.open({ segmentLengthMax: 3000, tailLengthMax: 0 });
  const all: Seen[] = [];
  for (let at = 0; at < COUNT; at += 2) {
    const texts = [`left ${at}`, `right ${at + 1}`];
    await bench.append(texts);
    for (const [index, text] of texts.entries()) all.push({ offset: at + index, text });
  }
  const starts = [...bench.partition.sealedSegments().map(({ firstOffset }) => firstOffset)];
  starts.push((bench.partition.sealedSegments().at(-1)?.lastOffset ?? -1) + 1);
  if (options.clean === false) bench.disk = bench.disk.kill();
  await bench.abandon();
  assert.ok(starts.length >= 3 && (starts.at(-1) ?? COUNT) < COUNT);
  return { bench, all, starts };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

describe("an index (A-03, A-04, A-08)", () => {
  it("is built anew when it is gone, empty, torn or about bytes the log does not have", async () => {
    for (const clean of [true, false]) {
      for (const change of ["gone", "empty", "torn", "garbage", "beyond"]) {
        const { bench, all, starts } = await written({ clean });
        for (const start of starts) {
          const file = name(start, "index");
          const bytes = await bench.fileBytes(file);
          if (change === "gone") await bench.disk.removeFile(`${PATH}/${file}`);
          else if (change === "empty") await bench.setFile(file, new Uint8Array());
          else if (change === "torn") await bench.setFile(file, bytes.subarray(0, bytes.length - 1));
          else if (change === "garbage") await bench.setFile(file, new Uint8Array(48).fill(0xab));
          else
            await bench.setFile(
              file,
              new Uint8Array([...bytes, ...new Uint8Array(16).fill(0x0f), ...new Uint8Array(8).fill(1)]),
            );
        }
        await bench.open();
        assert.deepEqual(await lostOffsets(bench, all), [], change);
        assert.deepEqual(await bench.readAll(), all);
        await bench.close();
      }
    }
  });

  it("that lies about positions leads nobody astray", async () => {
    const { bench, all, starts } = await written();
    for (const start of starts) {
      const log = await bench.fileBytes(name(start, "log"));
      const bytes = new Uint8Array(48);
      const view = new DataView(bytes.buffer);
      const count = (starts[starts.indexOf(start) + 1] ?? COUNT) - start;
      view.setBigUint64(0, BigInt(start), true);
      view.setBigUint64(24, BigInt(start + count - 1), true);
      view.setBigUint64(32, 5n, true);
      view.setBigUint64(40, BigInt(log.length - 7), true);
      await bench.setFile(name(start, "index"), bytes);
    }
    await bench.open();
    assert.deepEqual(await lostOffsets(bench, all), []);
    for (const { offset } of all) {
      const first = (await bench.readFromTime(1001 + Math.floor(offset / 2), 1))[0]?.offset;
      assert.equal(first, offset - (offset % 2));
    }
    await bench.close();
  });

  it("does not bring the last batch back that the log lost, nor lose one the log has", async () => {
    for (const clean of [true, false]) {
      const { bench, all, starts } = await written({ clean });
      const file = name(starts.at(-1) ?? 0, "log");
      const log = await bench.fileBytes(file);
      const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
      let last = 0;
      while (last + batchLengthAt(view, last) < log.length) last += batchLengthAt(view, last);
      await bench.setFile(file, log.subarray(0, last));
      await bench.open();
      assert.deepEqual(await bench.readAll(), all.slice(0, -2));
      assert.equal(await bench.append(["new"]), COUNT);
      await bench.close();
    }
  });

  it("and the files grow only with data through restarts", async () => {
    const bench = await Bench.open({ segmentLengthMax: 20_000, tailLengthMax: 0 });
    const all: Seen[] = [];
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      for (let at = 0; at < 20; at += 1) {
        const offset = await bench.append([`round ${round} message ${at}`]);
        all.push({ offset, text: `round ${round} message ${at}` });
        times.push(bench.timestamp);
      }
      await bench.reopen();
      const before = await lengths(bench);
      await bench.reopen();
      await bench.reopen();
      assert.deepEqual(await lengths(bench), before);
      assert.deepEqual(await lostOffsets(bench, all), []);
      for (const [at, time] of times.entries())
        assert.equal((await bench.readFromTime(time, 1))[0]?.offset, at);
    }
    assert.deepEqual(await bench.readAll(), all);
    await bench.close();
  });
});

async function lengths(bench: Bench): Promise<Record<string, number>> {
  const all: Record<string, number> = {};
  for (const file of await bench.fileNames()) all[file] = (await bench.fileBytes(file)).length;
  return all;
}

describe("a sealed segment (A-04)", () => {
  it("whose log is gone or empty is a gap that is told, and everything around it is served", async () => {
    for (const clean of [true, false]) {
      for (const change of ["gone", "empty"] as const) {
        for (const which of [0, 1]) {
          const { bench, all, starts } = await written({ clean });
          const start = starts[which] ?? 0;
          const end = starts[which + 1] ?? 0;
          const file = name(start, "log");
          if (change === "gone") await bench.disk.removeFile(`${PATH}/${file}`);
          else await bench.setFile(file, new Uint8Array());
          await bench.open();
          assert.ok(
            bench.lines.some((line) => line.level === "error" && String(line.facts?.["path"]).endsWith(file)),
          );
          assert.deepEqual(await lostOffsets(bench, all), range(start, end));
          assert.equal(bench.partition.fault, undefined);
          assert.equal(await bench.append(["goes on"]), COUNT);
          await bench.close();
        }
      }
    }
  });

  it("whose op records are gone is served all the same", async () => {
    const { bench, all, starts } = await written();
    await bench.disk.removeFile(`${PATH}/${name(starts[1] ?? 0, "ops")}`);
    await bench.open();
    assert.deepEqual(await bench.readAll(), all);
    await bench.close();
    await bench.disk.removeFile(`${PATH}/${name(starts[1] ?? 0, "index")}`);
    bench.disk.flipBit(`${PATH}/${name(starts[1] ?? 0, "log")}`, 8 * 300);
    await bench.open();
    const start = starts[1] ?? 0;
    assert.deepEqual(await lostOffsets(bench, all), [start, start + 1], "the log's own headers lead on");
    await bench.close();
  });

  it("with one flipped bit anywhere refuses only the batch it hit", async () => {
    const { bench, all, starts } = await written();
    const file = `${PATH}/${name(starts[1] ?? 0, "log")}`;
    const length = (await bench.disk.stat(file))?.length ?? 0;
    for (let step = 0; step < 60; step += 1) {
      const bit = Math.floor((step * length * 8) / 60) + (step % 8);
      bench.disk.flipBit(file, bit);
      await bench.open();
      const lost = await lostOffsets(bench, all);
      assert.ok(lost.length === 2, `bit ${bit} damages one batch, not ${lost.length / 2}`);
      const prefix = await bench.read(0);
      assert.deepEqual(prefix, all.slice(0, lost[0]), "the good prefix is served first");
      await bench.close();
      bench.disk.flipBit(file, bit);
    }
  });

  it("that nobody listed is ignored and kept, wherever its name lies", async () => {
    for (const clean of [true, false]) {
      const { bench, all, starts } = await written({ clean });
      const strays = [
        [name(999_999, "log"), new Uint8Array()],
        [name(999_999, "index"), new Uint8Array()],
        [name(888_888, "log"), await bench.fileBytes(name(0, "log"))],
        [name(888_888, "index"), await bench.fileBytes(name(0, "index"))],
        [name(777_777, "log"), await bench.fileBytes(name(starts.at(-1) ?? 0, "log"))],
        [name(777_777, "ops"), await bench.fileBytes(name(starts.at(-1) ?? 0, "ops"))],
        [name(1, "log"), new Uint8Array(100)],
        [name(3, "log"), new Uint8Array()],
      ] as const;
      for (const [file, bytes] of strays) await bench.setFile(file, bytes);
      await bench.open();
      assert.deepEqual(await bench.readAll(), all);
      assert.equal(await bench.append(["next"]), COUNT);
      await bench.reopen();
      for (const [file, bytes] of strays) assert.deepEqual(await bench.fileBytes(file), bytes, file);
      await bench.close();
    }
  });
});

describe("the active segment (A-04)", () => {
  it("refuses writes and serves what is good when a bit flips before its end", async () => {
    for (const kind of ["log", "ops"] as const) {
      const { bench, all, starts } = await written({ clean: false });
      const file = `${PATH}/${name(starts.at(-1) ?? 0, kind)}`;
      const length = (await bench.disk.stat(file))?.length ?? 0;
      const before = await lengths(bench);
      const ops = await bench.fileBytes(name(starts.at(-1) ?? 0, "ops"));
      const firstBodyLength = new DataView(ops.buffer, ops.byteOffset).getUint32(112, true);
      for (let step = 0; step < 30; step += 1) {
        const bit = Math.floor((step * length * 0.7 * 8) / 30);
        bench.disk.flipBit(file, bit);
        await bench.open();
        assert.ok(
          isDamage(bench.partition.fault),
          `bit ${bit} of the ${kind} is found: ${bench.partition.fault}`,
        );
        await assert.rejects(bench.append(["no"]), isDamage);
        const lost = await lostOffsets(bench, all);
        const isFirstRecord = kind === "ops" && bit < 8 * (128 + firstBodyLength);
        if (!isFirstRecord)
          assert.ok(lost.length <= 2, `${lost.length} messages lost to bit ${bit} of the ${kind}`);
        assert.ok(lost.every((offset) => offset >= (starts.at(-1) ?? 0)));
        assert.deepEqual(await lengths(bench), before, "nothing is cut or deleted");
        await bench.close();
        bench.disk.flipBit(file, bit);
      }
    }
  });

  it("answers damage when its log is gone, and still serves the sealed ones", async () => {
    for (const clean of [true, false]) {
      const { bench, all, starts } = await written({ clean });
      const start = starts.at(-1) ?? 0;
      await bench.disk.removeFile(`${PATH}/${name(start, "log")}`);
      await bench.open();
      assert.ok(isDamage(bench.partition.fault));
      assert.deepEqual(await lostOffsets(bench, all), range(start, COUNT));
      await bench.close();
    }
  });

  it("starts empty again behind its old offsets when its log was emptied", async () => {
    const { bench, all, starts } = await written();
    const start = starts.at(-1) ?? 0;
    await bench.setFile(name(start, "log"), new Uint8Array());
    await bench.open();
    assert.deepEqual(await bench.readAll(), all.slice(0, start));
    assert.equal(await bench.append(["behind"]), COUNT);
    await bench.kill();
    assert.deepEqual(await bench.readAll(), [...all.slice(0, start), { offset: COUNT, text: "behind" }]);
    await bench.close();
  });
});

describe("other files (A-12)", () => {
  it("are warned about, ignored and kept", async () => {
    const { bench, all } = await written();
    const strangers = [".DS_Store", "0.tmp", "10 (copy)", "5.log", `${name(0, "log")}.bak`, "superblock.a"];
    for (const stranger of strangers) await bench.setFile(stranger, new Uint8Array());
    await bench.disk.makeDirectory(`${PATH}/folder`);
    await bench.disk.makeDirectory(`${PATH}/${name(500, "log")}`);
    await bench.open();
    assert.deepEqual(await bench.readAll(), all);
    const warned = bench.lines
      .filter((line) => line.level === "warn")
      .map((line) => String(line.facts?.["path"]));
    for (const stranger of [...strangers, "folder"])
      assert.ok(warned.includes(`${PATH}/${stranger}`), stranger);
    await bench.reopen();
    const names = await bench.fileNames();
    for (const stranger of strangers) assert.ok(names.includes(stranger));
    await bench.close();
  });

  it("of another partition under our names are not taken for ours", async () => {
    const { bench } = await written();
    bench.partition = await bench.open({
      identity: { streamId: 1, topicId: 2, partitionId: 3, revision: 10 },
    });
    assert.equal(bench.partition.lastOp, 0);
    await bench.close();
  });

  it("of a later version are refused and not touched", async () => {
    const { bench, starts } = await written();
    const file = name(starts.at(-1) ?? 0, "ops");
    const bytes = (await bench.fileBytes(file)).slice();
    bytes[12] = 2;
    const { xxh3_64 } = await import("@millrace/framing");
    const view = new DataView(bytes.buffer);
    const length = 128 + view.getUint32(112, true);
    view.setBigUint64(0, xxh3_64(bytes.subarray(8, length)), true);
    await bench.setFile(file, bytes);
    await assert.rejects(bench.open(), (error) => isCodedError(error, ErrorCode.FormatTooNew));
    assert.deepEqual(await bench.fileBytes(file), bytes);
  });
});
