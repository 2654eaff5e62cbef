import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { batchLengthAt } from "@millrace/framing";
import { Bench, IDENTITY, name, PATH, type Seen } from "../partition/partition-fixture.test.ts";
import { isDamage, lostOffsets } from "./damage-fixture.test.ts";

const LOG = name(0, "log");
const OPS = name(0, "ops");
/** Length of a batch's op record. */
const RECORD = 128;

type Last = "batch" | "store" | "delete";

/** Six batches of two messages, offset 3 stored after the fourth; then what `last` says. Ended by a kill. */
async function written(last: Last, options: { durability?: "persisted" } = {}) {
  const bench = await Bench.open({ tailLengthMax: 0, ...options });
  const all: Seen[] = [];
  for (let at = 0; at < 12; at += 2) {
    const texts = [`left ${at}`.padEnd(300, "l"), `right ${at}`];
    await bench.append(texts);
    for (const [index, text] of texts.entries()) all.push({ offset: at + index, text });
    if (at === 6) await bench.storeOffset(1, 7, 3);
  }
  if (last === "store") await bench.storeOffset(1, 7, 9);
  if (last === "delete") await bench.deleteOffset(1, 7);
  bench.disk = bench.disk.kill();
  await bench.abandon();
  const log = await bench.fileBytes(LOG);
  return { bench, all, log, ops: await bench.fileBytes(OPS), starts: batchStarts(log) };
}

function batchStarts(log: Uint8Array): number[] {
  const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
  const starts: number[] = [];
  for (let at = 0; at < log.length; at += batchLengthAt(view, at)) starts.push(at);
  return starts;
}

async function assertNothingCut(bench: Bench): Promise<void> {
  assert.ok(isDamage(bench.partition.fault), `the fault is ${bench.partition.fault}`);
  await assert.rejects(bench.append(["no"]), isDamage);
  assert.deepEqual(await bench.disk.readDirectory("quarantine"), []);
}

function zeroed(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return bytes.slice().fill(0, from, to);
}

describe("a changed bit behind which nothing good lies", () => {
  it("in the last batch is damage, whichever bit it is: the batch was there", async () => {
    const { bench, all, log, starts } = await written("batch");
    const file = `${PATH}/${LOG}`;
    for (let bit = 8 * (starts.at(-1) ?? 0); bit < 8 * log.length; bit += 5) {
      bench.disk.flipBit(file, bit);
      await bench.open();
      await assertNothingCut(bench);
      if (bit % 97 === 0) assert.deepEqual(await lostOffsets(bench, all), [10, 11]);
      assert.equal(bench.partition.consumerOffset(1, 7), 3);
      await bench.close();
      bench.disk.flipBit(file, bit);
    }
  });

  it("in the last batch is damage also when the zeros that it begins with lie in the sector before", async () => {
    // Partition 0: a header begins with eight zeros, and with those of the base offset's low bytes.
    for (const zeros of [1, 5, 8]) {
      const bench = await Bench.open({ tailLengthMax: 0, identity: { ...IDENTITY, partitionId: 0 } });
      await bench.append(["a".repeat(1024 - zeros - 304)]);
      await bench.append(["b".repeat(300)]);
      bench.disk = bench.disk.kill();
      await bench.abandon();
      const log = await bench.fileBytes(LOG);
      const start = 1024 - zeros;
      assert.deepEqual(batchStarts(log), [0, start]);
      assert.ok(log.subarray(start, 1024).every((byte) => byte === 0));
      for (let bit = 8 * start; bit < 8 * log.length; bit += 17) {
        bench.disk.flipBit(`${PATH}/${LOG}`, bit);
        await bench.open();
        await assertNothingCut(bench);
        await bench.close();
        bench.disk.flipBit(`${PATH}/${LOG}`, bit);
      }
    }
  });

  it("in the last record is damage; offsets are told only when the record must be a batch's", async () => {
    for (const last of ["batch", "store", "delete"] as const) {
      const { bench, all, ops } = await written(last);
      const length = { batch: RECORD, store: RECORD + 16, delete: RECORD + 8 }[last];
      for (let bit = 8 * (ops.length - length); bit < 8 * ops.length; bit += 3) {
        bench.disk.flipBit(`${PATH}/${OPS}`, bit);
        await bench.open();
        await assertNothingCut(bench);
        if (bit % 97 === 0) assert.deepEqual(await lostOffsets(bench, all), last === "batch" ? [10, 11] : []);
        if (last === "batch") assert.equal(bench.partition.consumerOffset(1, 7), 3);
        else assert.throws(() => bench.partition.consumerOffset(1, 7), isDamage);
        await bench.close();
        bench.disk.flipBit(`${PATH}/${OPS}`, bit);
      }
    }
  });

  it("in the last record is damage also when its end lies in a sector of its own that holds only zeros", async () => {
    const bench = await Bench.open({ tailLengthMax: 0, durability: "persisted" });
    for (let at = 0; at < 4; at += 1) await bench.append([`message ${at}`]);
    await bench.storeOffset(1, 7, 1);
    await bench.storeOffset(1, 7, 3);
    bench.disk = bench.disk.kill();
    await bench.abandon();
    const ops = await bench.fileBytes(OPS);
    const start = ops.length - (RECORD + 16);
    assert.equal((start + 136) % 512, 0, "eight zeros of the record lie in the next sector");
    assert.ok(ops.subarray(start + 136).every((byte) => byte === 0));
    for (let bit = 8 * start; bit < 8 * ops.length; bit += 3) {
      bench.disk.flipBit(`${PATH}/${OPS}`, bit);
      await bench.open();
      await assertNothingCut(bench);
      assert.throws(() => bench.partition.consumerOffset(1, 7), isDamage);
      await bench.close();
      bench.disk.flipBit(`${PATH}/${OPS}`, bit);
    }
  });

  it("in the record of a low offset behind very many messages is damage, though zeros of it may be high bytes", async () => {
    const bench = await Bench.open({ tailLengthMax: 0, durability: "persisted" });
    await bench.append(["before a hole"]);
    const first = 1 + 2 ** 24;
    assert.equal(await bench.append(["behind it"], 2 ** 24), first);
    for (let offset = 0; offset < 6; offset += 1) await bench.storeOffset(1, 7, 1);
    await bench.deleteOffset(1, 7);
    await bench.storeOffset(1, 7, 1);
    bench.disk = bench.disk.kill();
    await bench.abandon();
    const file = name(first, "ops");
    const ops = await bench.fileBytes(file);
    const start = ops.length - (RECORD + 16);
    assert.equal((start + 136) % 512, 0, "eight zeros of the record lie in the next sector");
    for (let bit = 8 * start; bit < 8 * ops.length; bit += 3) {
      bench.disk.flipBit(`${PATH}/${file}`, bit);
      await bench.open();
      await assertNothingCut(bench);
      assert.throws(() => bench.partition.consumerOffset(1, 7), isDamage);
      await bench.close();
      bench.disk.flipBit(`${PATH}/${file}`, bit);
    }
  });

  it("in the mark of a clean close changes nothing", async () => {
    const { bench, all } = await written("store");
    await bench.open();
    await bench.close();
    const ops = await bench.fileBytes(OPS);
    for (let bit = 8 * (ops.length - 200); bit < 8 * ops.length; bit += 13) {
      await bench.setFile(OPS, ops);
      bench.disk.flipBit(`${PATH}/${OPS}`, bit);
      await bench.open();
      assert.equal(bench.partition.fault, undefined);
      assert.equal(bench.partition.consumerOffset(1, 7), 9);
      assert.deepEqual(await bench.readAll(), all);
      await bench.close();
    }
  });
});

describe("a changed bit before something good", () => {
  it("in the last batch costs neither the offset stored behind it nor any other message", async () => {
    const { bench, all, log, starts } = await written("store");
    for (let bit = 8 * (starts.at(-1) ?? 0); bit < 8 * log.length; bit += 29) {
      bench.disk.flipBit(`${PATH}/${LOG}`, bit);
      await bench.open();
      await assertNothingCut(bench);
      assert.deepEqual(await lostOffsets(bench, all), [10, 11]);
      assert.equal(bench.partition.consumerOffset(1, 7), 9);
      await bench.close();
      bench.disk.flipBit(`${PATH}/${LOG}`, bit);
    }
  });

  it("in a batch's record leaves the offsets known: the log shows that the op was a batch", async () => {
    const { bench, all, ops } = await written("batch");
    const checkpoint = ops.length - 6 * RECORD - (RECORD + 16);
    bench.disk.flipBit(`${PATH}/${OPS}`, 8 * (checkpoint + RECORD) + 300);
    await bench.open();
    await assertNothingCut(bench);
    assert.equal(bench.partition.consumerOffset(1, 7), 3);
    assert.deepEqual(await lostOffsets(bench, all), []);
    await bench.close();
  });

  it("in the record of a stored offset makes the offsets unknown, and nothing else", async () => {
    const { bench, all, ops } = await written("batch");
    bench.disk.flipBit(`${PATH}/${OPS}`, 8 * (ops.length - 2 * RECORD - 16) + 3);
    await bench.open();
    await assertNothingCut(bench);
    const { partition } = bench;
    assert.ok(isDamage(partition.offsetsFault));
    assert.throws(() => partition.consumerOffset(1, 7), isDamage);
    assert.throws(() => partition.consumerOffset(2, 8), isDamage);
    assert.throws(() => partition.mayStoreConsumerOffset(1, 7), isDamage);
    assert.throws(() => partition.acceptedConsumerOffsets(), isDamage);
    assert.throws(() => partition.consumerOffsetIds(1), isDamage);
    assert.deepEqual(await lostOffsets(bench, all), []);
    await bench.close();
  });
});

describe("bytes that read as zeros", () => {
  it("at the end are what power loss leaves: a torn tail", async () => {
    const { bench, all, log, ops, starts } = await written("batch");
    const last = starts.at(-1) ?? 0;
    const sectors = [0, 512, 1024].map((at) => Math.ceil((last + 1) / 512) * 512 + at);
    const places = [last, ...sectors.filter((at) => at < log.length)];
    assert.ok(places.length >= 2);
    for (const from of places) {
      await bench.setFile(LOG, zeroed(log, from, log.length));
      await bench.setFile(OPS, ops);
      await bench.open();
      assert.equal(bench.partition.fault, undefined, `from ${from} of ${log.length}`);
      assert.deepEqual(await bench.readAll(), all.slice(0, -2));
      await bench.close();
      await bench.disk.removeDirectory(PATH);
      await bench.disk.makeDirectory(PATH);
    }
  });

  it("before an op of a later group are told as an error, and damage where each group was synced", async () => {
    for (const durability of [undefined, "persisted"] as const) {
      const { bench, log, starts } = await written("store", durability === undefined ? {} : { durability });
      await bench.setFile(LOG, zeroed(log, starts.at(-1) ?? 0, log.length));
      await bench.open();
      if (durability === "persisted") await assertNothingCut(bench);
      else {
        assert.equal(bench.partition.fault, undefined);
        assert.ok(
          bench.lines.some(({ level, message }) => level === "error" && message.includes("are gone")),
        );
        assert.equal(await bench.append(["next"]), 12, "what was acknowledged is not given again");
      }
      await bench.close();
    }
  });

  it("before a batch of a later group are damage: nothing good is cut", async () => {
    const { bench, all, log, starts } = await written("batch");
    await bench.setFile(LOG, zeroed(log, starts[2] ?? 0, starts[3] ?? 0));
    await bench.open();
    await assertNothingCut(bench);
    assert.deepEqual(await lostOffsets(bench, all), [4, 5]);
    assert.equal(bench.partition.consumerOffset(1, 7), 3);
    await bench.close();
  });

  it("before a batch of the same group are a torn tail: nobody was told that the group is there", async () => {
    const bench = await Bench.open({ tailLengthMax: 0, durability: "persisted" });
    await bench.append(["first"]);
    const group = ["second", "third", "fourth"].map((text) => bench.append([text.padEnd(1500, ".")]));
    await Promise.all(group);
    bench.disk = bench.disk.kill();
    await bench.abandon();
    const log = await bench.fileBytes(LOG);
    const starts = batchStarts(log);
    const ops = new DataView((await bench.fileBytes(OPS)).slice().buffer);
    const places = [4, 3, 2, 1].map((back) => ops.getUint32(ops.byteLength - back * RECORD + 116, true));
    assert.deepEqual(
      places.slice(0, 2),
      [0, 0],
      "the second op waits for the first group, and begins its own",
    );
    assert.deepEqual(places.slice(2), [1, 2]);
    await bench.setFile(LOG, zeroed(log, starts[2] ?? 0, starts[3] ?? 0));
    await bench.open();
    assert.equal(bench.partition.fault, undefined);
    assert.deepEqual((await bench.readAll()).length, 2);
    await bench.close();
  });
});
