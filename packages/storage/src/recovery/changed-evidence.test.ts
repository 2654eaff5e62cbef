import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { batchLengthAt } from "@millrace/framing";
import { Bench, name, PATH, type Seen } from "../partition/partition-fixture.test.ts";
import { isDamage, lostOffsets } from "./damage-fixture.test.ts";

const LOG = name(0, "log");
const OPS = name(0, "ops");
/** Lengths of a batch's op record and of a stored offset's. */
const RECORD = 128;
const STORED = 144;
const SECTOR = 512;

/** What was written before the power failed: batches of one message, each a group of its own. */
interface Written {
  readonly bench: Bench;
  readonly all: readonly Seen[];
  readonly log: Uint8Array;
  readonly ops: Uint8Array;
  /** Where the batches begin in the `.log`, and where the last one ends. */
  readonly starts: readonly number[];
}

async function written(count: number): Promise<Written> {
  const bench = await Bench.open({ tailLengthMax: 0 });
  const all: Seen[] = [];
  for (let at = 0; at < count; at += 1) {
    const text = `message ${at} `.padEnd(1200, "m");
    all.push({ offset: await bench.append([text]), text });
  }
  bench.disk = bench.disk.kill();
  await bench.abandon();
  const log = await bench.fileBytes(LOG);
  const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
  const starts = [0];
  for (let at = 0; at < log.length; at += batchLengthAt(view, at)) starts.push(at + batchLengthAt(view, at));
  return { bench, all, log, ops: await bench.fileBytes(OPS), starts };
}

/** The files as a power loss left them: whole sectors of the ranges read as zeros. */
function withoutSectors(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return bytes.slice().fill(0, Math.ceil(from / SECTOR) * SECTOR, Math.floor(to / SECTOR) * SECTOR);
}

/** Opens with each of the bits changed in turn: always damage, nothing cut, no offset given again. */
async function staysDamage(
  { bench, all }: Written,
  flips: { readonly file: string; readonly from: number; readonly to: number; readonly step: number },
  lost: readonly number[],
): Promise<void> {
  const { file, from, to, step } = flips;
  for (let bit = 8 * from; bit < 8 * to; bit += step) {
    bench.disk.flipBit(`${PATH}/${file}`, bit);
    await bench.open();
    const { fault } = bench.partition;
    assert.ok(isDamage(fault), `bit ${bit} of ${file} leads to ${fault}`);
    assert.deepEqual(await bench.disk.readDirectory("quarantine"), [], `bit ${bit} of ${file} had it cut`);
    assert.equal(bench.partition.nextOffset, all.length);
    if (bit % 97 === 0) assert.deepEqual(await lostOffsets(bench, all), lost, `bit ${bit} of ${file}`);
    await bench.close();
    bench.disk.flipBit(`${PATH}/${file}`, bit);
  }
}

describe("one changed bit in what shows that a batch lost with power had been written", () => {
  it("takes nothing away: of its record, before a batch that is lost too", async () => {
    const all = await written(3);
    const { bench, log, ops, starts } = all;
    const once = withoutSectors(log, 0, starts[1] ?? 0);
    await bench.setFile(LOG, withoutSectors(once, starts[2] ?? 0, log.length));
    await bench.open();
    assert.ok(isDamage(bench.partition.fault));
    assert.deepEqual(await lostOffsets(bench, all.all), [0, 2], "the second message is there");
    await bench.close();
    const record = ops.length - 2 * RECORD;
    await staysDamage(all, { file: OPS, from: record, to: record + RECORD, step: 13 }, [0, 1, 2]);
  });

  it("takes nothing away: of its record, the last of all", async () => {
    const all = await written(2);
    const { bench, log, ops, starts } = all;
    await bench.setFile(LOG, withoutSectors(log, 0, starts[1] ?? 0));
    await staysDamage(all, { file: OPS, from: ops.length - RECORD, to: ops.length, step: 13 }, [0, 1]);
  });

  it("takes nothing away: of its batch", async () => {
    const all = await written(3);
    const { bench, log, starts } = all;
    const once = withoutSectors(log, 0, starts[1] ?? 0);
    await bench.setFile(LOG, withoutSectors(once, starts[2] ?? 0, log.length));
    const [, from = 0, to = 0] = starts;
    await staysDamage(all, { file: LOG, from, to, step: 61 }, [0, 1, 2]);
  });
});

describe("one changed bit behind records lost with power", () => {
  /**
   * Lost are the records of all batches but the first two, up to the sector in which the last thing begins:
   * those of a batch that lies in it too are lost in part.
   */
  async function withoutRecords(count: number, last: "batch" | "store") {
    const all = await written(count);
    const { bench } = all;
    if (last === "store") {
      await bench.open();
      await bench.storeOffset(1, 7, count - 1);
      bench.disk = bench.disk.kill();
      await bench.abandon();
    }
    const ops = await bench.fileBytes(OPS);
    const from = ops.length - (last === "store" ? STORED : RECORD);
    const third = all.ops.length - (count - 2) * RECORD;
    // The sector in which the third record begins is as it was when the second had been written.
    await bench.setFile(OPS, ops.fill(0, third, from - (from % SECTOR)));
    return { all, from, to: ops.length };
  }

  it("is damage still when that of the last batch is all that follows", async () => {
    const { all, from, to } = await withoutRecords(8, "batch");
    const { bench } = all;
    await bench.open();
    assert.ok(isDamage(bench.partition.fault));
    await bench.close();
    await staysDamage(all, { file: OPS, from, to, step: 13 }, [2, 3, 4, 5, 6, 7]);
  });

  it("hides no stored offset in silence", async () => {
    const { all, from, to } = await withoutRecords(7, "store");
    const { bench, log, starts } = all;
    await bench.setFile(LOG, withoutSectors(log, 0, starts[1] ?? 0));
    for (let bit = 8 * from; bit < 8 * to; bit += 13) {
      bench.disk.flipBit(`${PATH}/${OPS}`, bit);
      await bench.open();
      assert.ok(isDamage(bench.partition.fault));
      assert.throws(() => bench.partition.consumerOffset(1, 7), isDamage, `bit ${bit}`);
      await bench.close();
      bench.disk.flipBit(`${PATH}/${OPS}`, bit);
    }
  });

  it("is damage still when the only op of a segment follows its lost first record", async () => {
    const bench = await Bench.open({ tailLengthMax: 0, segmentLengthMax: 1000 });
    // The first record of the next segment is longer than a sector.
    for (let id = 1; id < 30; id += 1) await bench.storeOffset(1, id, 0);
    await bench.append(["m".repeat(1000)]);
    await bench.storeOffset(1, 7, 0);
    bench.disk = bench.disk.kill();
    await bench.abandon();
    const file = name(1, "ops");
    const ops = await bench.fileBytes(file);
    assert.ok(ops.length - STORED > SECTOR);
    await bench.setFile(file, ops.slice().fill(0, 0, SECTOR));
    for (let bit = 8 * (ops.length - STORED); bit < 8 * ops.length; bit += 13) {
      bench.disk.flipBit(`${PATH}/${file}`, bit);
      await bench.open();
      assert.ok(isDamage(bench.partition.fault), `bit ${bit} leads to ${bench.partition.fault}`);
      assert.throws(() => bench.partition.consumerOffset(1, 7), isDamage);
      assert.deepEqual(await bench.disk.readDirectory("quarantine"), []);
      await bench.close();
      bench.disk.flipBit(`${PATH}/${file}`, bit);
    }
  });
});
