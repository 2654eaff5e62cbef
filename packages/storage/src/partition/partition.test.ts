import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { SimDisk } from "@millrace/platform/sim";
import { Bench, name } from "./partition-fixture.test.ts";

describe("a partition", () => {
  it("serves what was appended and committed, from memory", async () => {
    const bench = await Bench.open();
    assert.equal(await bench.append(["a", "b"]), 0);
    assert.equal(await bench.append(["c"]), 2);
    assert.deepEqual(await bench.read(0), [
      { offset: 0, text: "a" },
      { offset: 1, text: "b" },
      { offset: 2, text: "c" },
    ]);
    assert.deepEqual(await bench.read(1, 1), [{ offset: 1, text: "b" }]);
    assert.deepEqual(await bench.read(3), []);
    await bench.close();
  });

  it("serves from disk what memory no longer holds", async () => {
    const bench = await Bench.open({ tailLengthMax: 0 });
    for (let at = 0; at < 20; at += 1) await bench.append([`a${at}`, `b${at}`]);
    const all = await bench.readAll();
    assert.equal(all.length, 40);
    assert.deepEqual(await bench.read(5, 3), [
      { offset: 5, text: "b2" },
      { offset: 6, text: "a3" },
      { offset: 7, text: "b3" },
    ]);
    await bench.close();
  });

  it("keeps everything through a clean restart and through a kill", async () => {
    const bench = await Bench.open();
    for (let at = 0; at < 10; at += 1) await bench.append([`m${at}`]);
    await bench.storeOffset(1, 77, 4);
    await bench.reopen();
    assert.equal((await bench.readAll()).length, 10);
    assert.equal(bench.partition.consumerOffset(1, 77), 4);
    await bench.append(["m10"]);
    await bench.kill();
    assert.deepEqual(
      (await bench.readAll()).map(({ text }) => text),
      [..."0123456789"].map((d) => `m${d}`).concat("m10"),
    );
    assert.equal(bench.partition.nextOffset, 11);
    assert.equal(bench.partition.lastOp, 12);
    await bench.close();
  });

  it("keeps groups of more ops than the kernel's scratch holds records of, offsets among them", async () => {
    const bench = await Bench.open();
    const writes: Promise<unknown>[] = [];
    for (let at = 0; at < 450; at += 1) {
      writes.push(bench.append([`m${at}`]));
      if (at % 200 === 199) writes.push(bench.storeOffset(1, at, at - 1));
    }
    await Promise.all(writes);
    await bench.kill();
    assert.deepEqual(
      (await bench.readAll()).map(({ text }) => text),
      [...Array(450).keys()].map((at) => `m${at}`),
    );
    assert.deepEqual([bench.partition.lastOp, bench.partition.consumerOffset(1, 399)], [452, 398]);
    await bench.close();
  });

  it("rolls to a new segment after the append that reaches the limit", async () => {
    const bench = await Bench.open({ segmentLengthMax: 2000, tailLengthMax: 0 });
    for (let at = 0; at < 30; at += 1) await bench.append([`message ${at}`]);
    assert.ok(bench.partition.segmentCount > 3);
    assert.equal((await bench.readAll()).length, 30);
    await bench.kill();
    assert.equal((await bench.readAll()).length, 30);
    assert.equal(bench.partition.messageCount, 30);
    await bench.close();
  });

  it("asks for the space of each segment it makes when it is told to", async () => {
    const disk = new SimDisk({ seed: 1 });
    const reserved: (readonly [path: string, length: number])[] = [];
    const openFile = disk.openFile.bind(disk);
    disk.openFile = async (path, mode) => {
      const file = await openFile(path, mode);
      file.preallocate = async (length) => void reserved.push([path.split("/").at(-1) ?? "", length]);
      return file;
    };
    const bench = await Bench.open({ disk, segmentLengthMax: 400, reservedLength: 400 });
    await bench.append(["a message that fills the segment, with its header"]);
    await bench.append(["another one"]);
    await bench.append(["one more"]);
    assert.deepEqual(reserved.slice(0, 2), [
      [name(0, "log"), 400],
      [name(2, "log"), 400],
    ]);
    await bench.close();
  });

  it("starts at the first batch stamped at or after a time", async () => {
    const bench = await Bench.open({ segmentLengthMax: 3000 });
    const times: number[] = [];
    for (let at = 0; at < 30; at += 1) {
      await bench.append([`m${at}`]);
      times.push(bench.timestamp);
    }
    const check = async () => {
      for (const [at, time] of times.entries()) {
        assert.equal((await bench.readFromTime(time, 1))[0]?.offset, at);
      }
      assert.equal((await bench.readFromTime(0, 1))[0]?.offset, 0);
      assert.deepEqual(await bench.readFromTime(bench.timestamp + 1), []);
    };
    await check();
    await bench.reopen();
    await check();
    await bench.close();
  });

  it("removes whole sealed segments below a truncation, and for good", async () => {
    const bench = await Bench.open({ segmentLengthMax: 2000 });
    for (let at = 0; at < 30; at += 1) await bench.append([`message ${at}`]);
    const second = bench.partition.sealedSegments()[1];
    assert.ok(second);
    await bench.truncate(second.firstOffset);
    assert.equal(bench.partition.firstOffset, second.firstOffset);
    assert.equal((await bench.read(0, 1))[0]?.offset, second.firstOffset);
    await bench.reopen();
    assert.equal(bench.partition.firstOffset, second.firstOffset);
    assert.ok(!(await bench.fileNames()).includes(name(0, "log")));
    await bench.close();
  });

  it("starts again at offset 0 after a purge", async () => {
    const bench = await Bench.open({ segmentLengthMax: 2000 });
    for (let at = 0; at < 10; at += 1) await bench.append([`old ${at}`]);
    await bench.storeOffset(2, 1, 3);
    await bench.purge();
    assert.deepEqual([bench.partition.nextOffset, bench.partition.messageCount], [0, 0]);
    assert.equal(bench.partition.consumerOffset(2, 1), undefined);
    assert.deepEqual(await bench.read(0), []);
    await bench.append(["new"]);
    assert.deepEqual(await bench.read(0), [{ offset: 0, text: "new" }]);
    await bench.kill();
    assert.deepEqual(await bench.read(0), [{ offset: 0, text: "new" }]);
    assert.equal(bench.partition.purgeGeneration, 1);
    await bench.reopen();
    assert.deepEqual(await bench.fileNames(), [name(0, "index", 1), name(0, "log", 1), name(0, "ops", 1)]);
    await bench.close();
  });

  it("never gives an offset that was seen to another message, though the tail was torn", async () => {
    const bench = await Bench.open();
    for (let at = 0; at < 5; at += 1) await bench.append([`m${at}`, "x"]);
    await bench.partition.close();
    const log = await bench.fileBytes(name(0, "log"));
    await bench.setFile(name(0, "log"), log.subarray(0, log.length - 1));
    await bench.open();
    assert.equal((await bench.readAll()).length, 8);
    assert.equal(await bench.append(["next"]), 10);
    await bench.kill();
    assert.deepEqual((await bench.readAll()).at(-1), { offset: 10, text: "next" });
    await bench.close();
  });

  it("answers that the role shared is not available", async () => {
    const bench = new Bench({ role: "shared" });
    await assert.rejects(bench.open(), (error) => isCodedError(error, ErrorCode.FeatureUnavailable));
  });
});
