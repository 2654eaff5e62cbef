import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { SeededRandom } from "@millrace/testkit";
import { Bench, name, PATH } from "../partition/partition-fixture.test.ts";
import type { Damage } from "./tally.ts";
import { VERIFY_FROM_START, type VerifyCursor } from "./verify-cursor.ts";

/** Messages of every bench below, two a batch. */
const COUNT = 40;
/** Changed bits tried in each file. */
const FLIPS = 40;

interface Verified {
  steps: number;
  messages: number;
  bytes: number;
  readonly damages: Damage[];
}

/** Verifies all there is in steps of `lengthMax` bytes. */
async function verifyAll(bench: Bench, lengthMax: number): Promise<Verified> {
  const all: Verified = { steps: 0, messages: 0, bytes: 0, damages: [] };
  let from: VerifyCursor | undefined = VERIFY_FROM_START;
  while (from !== undefined) {
    const step = await bench.partition.verify({ from, lengthMax });
    all.steps += 1;
    all.messages += step.messages;
    all.bytes += step.bytes;
    all.damages.push(...step.damages);
    from = step.next;
    assert.ok(all.steps < 1000, "every step goes forward");
  }
  return all;
}

/** Messages in three segments or more, offsets stored in between; closed. Answers where segments begin. */
async function written(): Promise<{ bench: Bench; starts: number[] }> {
  const bench = await Bench.open({ segmentLengthMax: 3200, tailLengthMax: 0 });
  for (let at = 0; at < COUNT; at += 2) {
    await bench.append([`left ${at}`.padEnd(50), `right ${at}`]);
    if (at % 6 === 0) await bench.storeOffset(1, 1, at);
  }
  const starts = bench.partition.sealedSegments().map(({ firstOffset }) => firstOffset);
  starts.push((bench.partition.sealedSegments().at(-1)?.lastOffset ?? -1) + 1);
  await bench.close();
  assert.ok(starts.length >= 3 && (starts.at(-1) ?? COUNT) < COUNT, "the last segment holds something");
  return { bench, starts };
}

async function flip(bench: Bench, file: string, position: number, bit = 0): Promise<void> {
  const bytes = (await bench.fileBytes(file)).slice();
  bytes[position] = (bytes[position] ?? 0) ^ (1 << bit);
  await bench.setFile(file, bytes);
}

describe("a verification", () => {
  it("looks at every message once, whatever the size of its steps, and finds nothing wrong with good files", async () => {
    const { bench } = await written();
    await bench.open();
    const whole = await verifyAll(bench, 1_000_000);
    const small = await verifyAll(bench, 1);
    assert.deepEqual([whole.steps, whole.messages, whole.damages], [1, COUNT, []]);
    assert.deepEqual([small.messages, small.bytes, small.damages], [COUNT, whole.bytes, []]);
    assert.ok(small.steps > COUNT / 2, "a step ends with the first record behind its budget");
    await bench.append(["one more"]);
    assert.equal((await verifyAll(bench, 500)).messages, COUNT + 1);
    await bench.close();
  });

  it("names file and place of a changed bit in sealed and active logs, and the other batches stay checked", async () => {
    const { bench, starts } = await written();
    const random = new SeededRandom(11);
    for (const start of starts) {
      const file = name(start, "log");
      const { length } = await bench.fileBytes(file);
      for (let round = 0; round < FLIPS; round += 1) {
        const [position, bit] = [random.below(length), random.below(8)];
        await flip(bench, file, position, bit);
        await bench.open();
        const { damages, messages } = await verifyAll(bench, random.below(2) === 0 ? 700 : 1_000_000);
        assert.equal(damages.length, 1, `${file} byte ${position}`);
        const [damage] = damages;
        assert.deepEqual([damage?.kind, damage?.path], ["batch", `${PATH}/${file}`]);
        assert.ok((damage?.position ?? length) <= position && position < (damage?.position ?? 0) + 600);
        assert.equal(messages, COUNT);
        const offset = damage?.offset ?? -1;
        await assert.rejects(bench.read(offset, 1), (error) =>
          isCodedError(error, ErrorCode.PartitionDamaged),
        );
        await bench.close();
        await flip(bench, file, position, bit);
      }
    }
  });

  it("names the record of a changed bit in sealed and active op files", async () => {
    const { bench, starts } = await written();
    const random = new SeededRandom(12);
    for (const start of starts) {
      const file = name(start, "ops");
      await bench.open();
      const end = (await bench.fileBytes(file)).length;
      await bench.close();
      for (let round = 0; round < FLIPS; round += 1) {
        const [position, bit] = [random.below(end), random.below(8)];
        const before = await bench.fileBytes(file);
        await flip(bench, file, position, bit);
        await bench.open({ role: "read-only" });
        const { damages, messages } = await verifyAll(bench, 900);
        const isClosingRecord = damages.length === 0 && start === starts.at(-1);
        if (!isClosingRecord) {
          assert.deepEqual([damages[0]?.kind, damages[0]?.path], ["record", `${PATH}/${file}`]);
          assert.ok((damages[0]?.position ?? end) <= position);
        } else assert.ok(position > end / 2, "only the closing checkpoint may be changed without a word");
        assert.equal(messages, COUNT, "batches whose record is gone are checked by their own headers");
        await bench.close();
        await bench.setFile(file, before);
      }
    }
  });

  it("tells of files that are gone or too short", async () => {
    const { bench, starts } = await written();
    const [first = 0, second = 0] = starts;
    const log = await bench.fileBytes(name(first, "log"));
    await bench.setFile(name(first, "log"), log.subarray(0, log.length - 1));
    await bench.disk.removeFile(`${PATH}/${name(second, "log")}`);
    await bench.open();
    const { damages } = await verifyAll(bench, 1_000_000);
    assert.deepEqual(
      damages.map(({ kind, path }) => [kind, path]),
      [
        ["short", `${PATH}/${name(first, "log")}`],
        ["missing", `${PATH}/${name(second, "log")}`],
      ],
    );
    await bench.close();
  });

  it("goes on behind segments that retention took, and ends with the partition", async () => {
    const { bench, starts } = await written();
    await bench.open();
    const { next } = await bench.partition.verify({ from: VERIFY_FROM_START, lengthMax: 1 });
    await bench.truncate(starts[1] ?? 0);
    assert.ok(next !== undefined);
    const rest = await bench.partition.verify({ from: next, lengthMax: 1_000_000 });
    assert.deepEqual([rest.messages, rest.damages], [COUNT - (starts[1] ?? 0), []]);
    await bench.close();
    const late = bench.partition.verify({ from: next, lengthMax: 1 });
    await assert.rejects(late, (error) => isCodedError(error, ErrorCode.ShuttingDown));
  });
});
