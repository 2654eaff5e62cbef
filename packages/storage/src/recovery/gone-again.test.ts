import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createNodeCipher } from "@millrace/platform/node";
import { SimRandom } from "@millrace/platform/sim";
import { type Bench, type BenchOptions, name, PATH } from "../partition/partition-fixture.test.ts";
import { isDamage } from "./damage-fixture.test.ts";
import { filled, kill, NOTE_LENGTH, remove, segmentsOf } from "./gone-fixture.test.ts";

type Harm = (bench: Bench, last: number) => Promise<void>;

/** Changes the newest segment's op records. */
function records(change: (bytes: Uint8Array) => unknown): Harm {
  return async (bench, last) => {
    const bytes = await bench.fileBytes(name(last, "ops"));
    const changed = change(bytes);
    await bench.setFile(name(last, "ops"), changed instanceof Uint8Array ? changed : bytes);
  };
}

/** What the first damage of the newest segment is. */
const HARMS: readonly (readonly [string, Harm])[] = [
  ["it is gone with its files", (bench, last) => remove(bench, last)],
  ["its op records are gone", (bench, last) => remove(bench, last, ["ops"])],
  ["its messages are gone", (bench, last) => remove(bench, last, ["log"])],
  ["its op records are empty", records((bytes) => bytes.subarray(0, 0))],
  ["its op records are zeros", records((bytes) => bytes.fill(0))],
  ["nothing of its op records can be read", records((bytes) => bytes.fill(7))],
  ["a bit of its first record changed", records((bytes) => bytes.fill((bytes[100] ?? 0) ^ 1, 100, 101))],
  ["its first record changed", records((bytes) => bytes.fill(0x55, 100, 140))],
  ["its last record changed", records((bytes) => bytes.fill(0x55, bytes.length - 90, bytes.length - 70))],
  ["a record within changed", records((bytes) => bytes.fill(0x55, bytes.length - 218, bytes.length - 198))],
  [
    "its end is no whole record",
    records((bytes) => Uint8Array.from([...bytes.fill(0x55, -90, -70), 1, 2, 3])),
  ],
];

const OPTIONS: readonly (readonly [string, () => BenchOptions])[] = [
  ["replicated", () => ({})],
  ["persisted", () => ({ durability: "persisted", offsetDurability: "persisted" })],
  ["encrypted", () => ({ cipher: createNodeCipher(new Uint8Array(32).fill(1), new SimRandom(1)) })],
];

/** Repairs, appends, and takes the files of what the repair began away; answers the offset of the message. */
async function repairedAndGone(bench: Bench): Promise<number> {
  await bench.open({ repair: "none" });
  assert.equal(bench.partition.fault, undefined);
  const offset = await bench.append(["acknowledged"]);
  await kill(bench);
  await bench.open();
  assert.equal(bench.partition.fault, undefined);
  assert.deepEqual(await bench.read(offset), [{ offset, text: "acknowledged" }]);
  await kill(bench);
  await remove(bench, (await segmentsOf(bench)).at(-1) ?? 0);
  return offset;
}

async function assertGone(bench: Bench, first: number): Promise<void> {
  await bench.open();
  const { fault, offsetsFault } = bench.partition;
  assert.ok(isDamage(fault), "it is missed");
  assert.equal(fault?.details["path"], `${PATH}/${name(first, "ops")}`, "it is named");
  assert.ok(isDamage(offsetsFault));
  await kill(bench);
}

describe("a segment that a repair began, gone with its files,", () => {
  for (const [how, options] of OPTIONS) {
    for (const [what, harm] of HARMS) {
      it(`is missed, and no offset is given out twice: before that ${what} (${how})`, async () => {
        const { bench, all } = await filled(options());
        await kill(bench);
        await harm(bench, (await segmentsOf(bench)).at(-1) ?? 0);
        const given = [all.length - 1];
        for (let time = 1; time <= 3; time += 1) {
          const offset = await repairedAndGone(bench);
          assert.ok(offset > (given.at(-1) ?? 0), `${offset} was given out before`);
          given.push(offset);
          await assertGone(bench, offset);
        }
      });
    }
  }

  it("is missed where the segments before were taken away by retention", async () => {
    const { bench, all } = await filled();
    await bench.truncate(bench.partition.sealedSegments().at(-1)?.firstOffset ?? 0);
    await bench.partition.filesRemoved();
    await kill(bench);
    assert.equal((await segmentsOf(bench)).length, 2);
    await remove(bench, (await segmentsOf(bench)).at(-1) ?? 0);
    const first = await repairedAndGone(bench);
    assert.ok(first >= all.length);
    await assertGone(bench, first);
    assert.ok((await repairedAndGone(bench)) > first);
  });

  it("is missed when two were gone before, or three", async () => {
    for (const count of [2, 3]) {
      const { bench } = await filled();
      await kill(bench);
      for (const one of (await segmentsOf(bench)).slice(-count)) await remove(bench, one);
      const first = await repairedAndGone(bench);
      await assertGone(bench, first);
      assert.ok((await repairedAndGone(bench)) > first);
    }
  });

  it("is missed when the note of it has a changed bit", async () => {
    for (const [what, harm] of HARMS) {
      const { bench } = await filled();
      await kill(bench);
      await harm(bench, (await segmentsOf(bench)).at(-1) ?? 0);
      const first = await repairedAndGone(bench);
      const before = (await segmentsOf(bench)).at(-1) ?? 0;
      const bytes = await bench.fileBytes(name(before, "ops"));
      const at = bytes.length - NOTE_LENGTH + 90;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await bench.setFile(name(before, "ops"), bytes);
      await bench.open();
      assert.equal(bench.partition.fault?.details["path"], `${PATH}/${name(first, "ops")}`, what);
      await kill(bench);
    }
  });

  it("is noted once, however often the partition is opened", async () => {
    for (const [what, harm] of HARMS) {
      const { bench } = await filled();
      await kill(bench);
      await harm(bench, (await segmentsOf(bench)).at(-1) ?? 0);
      await bench.open({ repair: "none" });
      await kill(bench);
      const before = (await segmentsOf(bench)).at(-2) ?? 0;
      const bytes = await bench.fileBytes(name(before, "ops"));
      for (let time = 0; time < 3; time += 1) {
        await bench.open();
        await kill(bench);
        assert.deepEqual(await bench.fileBytes(name(before, "ops")), bytes, what);
      }
    }
  });
});
