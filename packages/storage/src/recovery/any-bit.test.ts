import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SeededRandom } from "@millrace/testkit";
import { Bench, PATH, type Seen } from "../partition/partition-fixture.test.ts";
import { isDamage } from "./damage-fixture.test.ts";

/** Bits tried in each of both cases; thousands were, once. */
const FLIPS = 100;

/** Messages in several segments, stored and deleted offsets between them; ended by a close or a kill. */
async function written(clean: boolean): Promise<{ bench: Bench; all: Seen[]; offsets: Map<number, number> }> {
  const bench = await Bench.open({ tailLengthMax: 0, segmentLengthMax: 4000 });
  const random = new SeededRandom(5);
  const offsets = new Map<number, number>();
  const all: Seen[] = [];
  while (all.length < 40) {
    const texts = Array.from({ length: 1 + random.below(3) }, (_, at) =>
      `${all.length + at}`.padEnd(random.below(200), "x"),
    );
    const appended = bench.append(texts);
    for (const text of texts) all.push({ offset: all.length, text });
    const [id, offset] = [random.below(4), random.below(all.length)];
    if (random.below(2) === 0) {
      await Promise.all([appended, bench.storeOffset(1, id, offset)]);
      offsets.set(id, offset);
    }
    await appended;
  }
  if (clean) await bench.close();
  else {
    bench.disk = bench.disk.kill();
    await bench.abandon();
  }
  return { bench, all, offsets };
}

async function assertNothingSilent(
  bench: Bench,
  all: readonly Seen[],
  offsets: Map<number, number>,
): Promise<void> {
  for (const message of all) {
    const seen = await bench.read(message.offset, 1).catch((error: unknown) => assert.ok(isDamage(error)));
    if (seen !== undefined) assert.deepEqual(seen, [message]);
  }
  const { partition } = bench;
  for (let id = 0; id < 4; id += 1) {
    if (partition.offsetsFault === undefined) assert.equal(partition.consumerOffset(1, id), offsets.get(id));
    else assert.throws(() => partition.consumerOffset(1, id), isDamage);
  }
  if (partition.fault === undefined) assert.equal(partition.nextOffset, all.length);
  else assert.ok(isDamage(partition.fault));
}

describe("one changed bit anywhere in a partition's files", () => {
  for (const clean of [true, false]) {
    it(`is told or harmless, never silent, after a ${clean ? "clean close" : "kill"}`, async () => {
      const { bench, all, offsets } = await written(clean);
      const files = (await bench.fileNames()).filter((file) => !file.endsWith(".index"));
      const random = new SeededRandom(clean ? 1 : 2);
      const whole = new Map<string, Uint8Array>();
      for (const file of await bench.fileNames()) whole.set(file, await bench.fileBytes(file));
      for (let flip = 0; flip < FLIPS; flip += 1) {
        const file = files[random.below(files.length)] ?? "";
        const bit = random.below(8 * (whole.get(file)?.length ?? 0));
        bench.disk.flipBit(`${PATH}/${file}`, bit);
        await bench.open({ role: "read-only" });
        await assertNothingSilent(bench, all, offsets).catch((error: Error) => {
          throw new Error(`bit ${bit} of ${file}: ${error.message}`, { cause: error });
        });
        await bench.close();
        bench.disk.flipBit(`${PATH}/${file}`, bit);
      }
    });
  }
});
