import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Bench, type BenchOptions, name, PATH } from "../partition/partition-fixture.test.ts";
import { isDamage } from "./damage-fixture.test.ts";
import { filled, kill, NOTE_LENGTH, openReplica, remove, segmentsOf } from "./gone-fixture.test.ts";

type Harm = (bytes: Uint8Array, note: number) => void;

function flip(bytes: Uint8Array, at: number, bits = 1): void {
  bytes[at] = (bytes[at] ?? 0) ^ bits;
}

/** One bit in each field of a note. */
const BITS: readonly (readonly [string, Harm])[] = [
  ["checksum", 3],
  ["mark", 9],
  ["version", 12],
  ["kind", 13],
  ["parent", 20],
  ["op", 32],
  ["generation", 80],
  ["first offset", 88],
  ["first offset's end", 95],
  ["last byte", 127],
].map(([field, at]) => [`a bit of its ${field} changed`, (bytes, note) => flip(bytes, note + Number(at), 4)]);

const HARMS: readonly (readonly [string, Harm])[] = [
  ...BITS,
  ["a sector before it lost", (bytes, note) => bytes.fill(0, Math.floor(note / 512) * 512 - 512, note)],
];

/** No loss of power explains these: no replica goes on with them. Batches' records are as long as a note. */
const CHANGES: readonly (readonly [string, Harm])[] = [
  [
    "the record before it changed, and a bit of it",
    (bytes, note) => {
      bytes.fill(0x55, note - 20, note - 10);
      flip(bytes, note + 88);
    },
  ],
  [
    "a record further in front changed, and a bit of it",
    (bytes, note) => {
      bytes.fill(0x55, note - 148, note - 138);
      flip(bytes, note + 88);
    },
  ],
];

/** The newest segment is gone, and the note of it is harmed. */
async function harmed(options: BenchOptions, harm: Harm) {
  const { bench } = await filled({ segmentLengthMax: 3000, ...options });
  await kill(bench);
  const [before = 0, last = 0] = (await segmentsOf(bench)).slice(-2);
  await remove(bench, last);
  const bytes = await bench.fileBytes(name(before, "ops"));
  harm(bytes, bytes.length - NOTE_LENGTH);
  await bench.setFile(name(before, "ops"), bytes);
  return { bench, last };
}

function assertNamed({ partition }: Bench, first: number): void {
  assert.ok(isDamage(partition.fault), "the partition is damaged");
  assert.equal(partition.fault?.details["path"], `${PATH}/${name(first, "ops")}`);
  assert.ok(isDamage(partition.offsetsFault));
}

describe("the note of a segment that is gone", () => {
  for (const durability of ["replicated", "persisted"] as const) {
    for (const [what, harm] of [...HARMS, ...CHANGES]) {
      it(`counts with ${what} (alone, ${durability})`, async () => {
        const { bench, last } = await harmed({ durability }, harm);
        await bench.open();
        assertNamed(bench, last);
        await bench.reopen({ repair: "none" });
        assert.ok((await bench.append(["after"])) > 4_294_967_296);
        await bench.close();
      });
    }

    for (const [what, harm] of HARMS) {
      it(`counts with ${what} (of a replica, ${durability})`, async () => {
        const { bench, last } = await harmed({ durability, isReplica: true }, harm);
        assert.equal(await openReplica(bench), 1);
        assert.equal(bench.partition.fault, undefined);
        assert.ok(bench.partition.nextOffset <= last);
        await bench.append(["goes on"]);
        await kill(bench);
        assert.equal(await openReplica(bench), 0, "the tail was cut, and the journal went on");
        assert.equal(bench.partition.fault, undefined);
        await bench.close();
      });
    }

    for (const [what, harm] of CHANGES) {
      it(`counts with ${what} (of a replica, ${durability})`, async () => {
        const { bench } = await harmed({ durability, isReplica: true }, harm);
        assert.equal(await openReplica(bench), 1);
        assert.ok(isDamage(bench.partition.fault));
        assert.ok(isDamage(bench.partition.offsetsFault));
        await bench.close();
      });
    }
  }
});
