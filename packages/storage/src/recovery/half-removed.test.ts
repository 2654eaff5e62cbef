import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CodedError } from "@millrace/errors";
import { SimDisk } from "@millrace/platform/sim";
import { syncUpwards } from "../data-directory/durable-directory.ts";
import { Bench, type BenchOptions, name, PATH, type Seen } from "../partition/partition-fixture.test.ts";
import { compareSegmentNames, parseSegmentFileName, segmentFileName } from "../segment/segment-name.ts";
import { isDamage } from "./damage-fixture.test.ts";

/** Calls to the disk within which a removal comes to its end. */
const STEPS_MAX = 200;
const LATE_TURNS = 300;
/** One of the long messages fills it; the short ones all fit one. */
const SEGMENT_LENGTH = 1000;

/** A removal, and what becomes of the process in the midst of it. */
interface Case {
  readonly how: "purge" | "retention";
  readonly options: BenchOptions;
  /** Else it is killed. */
  readonly losesPower: boolean;
  /** Segments that go. */
  readonly count: number;
  /** What becomes of the note that another segment was begun; by default it is written. */
  readonly note?: "late" | "refused";
}

/** What was acknowledged before the process was ended. */
interface Ended {
  readonly bench: Bench;
  /** Nothing was left to be done when the process was ended. */
  readonly isOver: boolean;
  /** What was acknowledged of what is not removed: behind the purge, or not deleted. */
  readonly acknowledged: readonly Seen[];
}

/** A disk on which something becomes of the last segment's note that goes, and of the process at a call. */
class NoteDisk extends SimDisk {
  #end: (() => void) | undefined;
  #left = 0;

  static make(seed: number, how: Case["how"], note: Case["note"]): NoteDisk {
    // Behind the first record, that of a message, and that of the purge.
    const [first, noteAt] = how === "purge" ? [1, 4] : [0, 3];
    let writes = 0;
    let isLate = false;
    const later = (turns: number, done: () => void) =>
      turns === 0 ? done() : queueMicrotask(() => later(turns - 1, done));
    const disk: NoteDisk = new NoteDisk({
      seed,
      faults: ({ kind, path }) => {
        disk.#count();
        isLate = false;
        if (kind !== "write" || path !== `${PATH}/${name(first, "ops")}`) return undefined;
        writes += 1;
        isLate = writes === noteAt && note === "late";
        return writes === noteAt && note === "refused" ? { kind: "error", errno: "EIO" } : undefined;
      },
      schedule: (done) => later(isLate ? LATE_TURNS : 1, done),
    });
    return disk;
  }

  /** Ends the process before the call that comes after so many. */
  atCall(left: number, end: () => void): void {
    this.#left = left;
    this.#end = end;
  }

  #count(): void {
    if (this.#left === 0) this.#end?.();
    this.#left -= 1;
  }
}

/**
 * Some segments, of which all but the newest are taken away while something more is written behind them, in a
 * process that is ended at a call to the disk.
 */
async function endedAt(step: number, { how, options, losesPower, count, note }: Case): Promise<Ended> {
  const disk = NoteDisk.make(step + 1, how, note);
  const bench = await Bench.open({ segmentLengthMax: SEGMENT_LENGTH, tailLengthMax: 0, disk, ...options });
  await syncUpwards(disk, PATH);
  for (let at = 0; at < count; at += 1) await bench.append([`message ${at}`.padEnd(SEGMENT_LENGTH, "-")]);
  await bench.append(["kept"]);
  await bench.partition.filesRemoved();
  let killed: SimDisk | undefined;
  disk.atCall(step, () => {
    killed = losesPower ? disk.crash() : disk.kill();
  });
  const acknowledged: Seen[] = how === "purge" ? [] : [{ offset: count, text: "kept" }];
  const act = async () => {
    await (how === "purge" ? bench.purge() : bench.truncate(count));
    for (const text of ["one", "two"]) acknowledged.push({ offset: await bench.append([text]), text });
    await bench.partition.filesRemoved();
  };
  await act().catch(() => undefined);
  bench.disk = killed ?? disk.kill();
  await bench.abandon();
  return { bench, isOver: killed === undefined, acknowledged };
}

/** The segments of which files are there, oldest first, and which files. */
async function segmentsOn(bench: Bench) {
  const segments = new Map<string, { generation: number; firstOffset: number; kinds: Set<string> }>();
  for (const fileName of await bench.fileNames()) {
    const parsed = parseSegmentFileName(fileName);
    assert.ok(parsed !== undefined);
    const key = segmentFileName(parsed, "log");
    const segment = segments.get(key) ?? { ...parsed, kinds: new Set<string>() };
    segment.kinds.add(parsed.kind);
    segments.set(key, segment);
  }
  return [...segments.values()].sort(compareSegmentNames);
}

/** Takes the newest segment away with its files; answers whether the one before was half removed. */
async function loseNewest(bench: Bench): Promise<{ isHalfRemoved: boolean; isAnythingLeft: boolean }> {
  const segments = await segmentsOn(bench);
  const newest = segments.pop();
  assert.ok(newest !== undefined);
  for (const kind of newest.kinds)
    await bench.disk.removeFile(`${PATH}/${segmentFileName(newest, kind as "log")}`);
  const last = segments.at(-1)?.kinds;
  const isHalfRemoved = last?.has("ops") === true && !last.has("log");
  return { isHalfRemoved, isAnythingLeft: segments.length > 0 };
}

/**
 * What of these messages reads as it was. Where another is, damage is told: by the read, or by who asks for
 * the stored offsets when a read finds nothing.
 */
async function kept(bench: Bench, messages: readonly Seen[]): Promise<Seen[]> {
  const good: Seen[] = [];
  for (const message of messages) {
    try {
      const seen = await bench.read(message.offset, 1);
      if (seen.length === 0 && bench.partition.offsetsFault !== undefined) continue;
      assert.deepEqual(seen, [message]);
      good.push(message);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
  return good;
}

/** One step: the server stands alone. Answers whether it stopped in the midst of a removal. */
async function aloneAt(step: number, one: Case) {
  const { bench, isOver, acknowledged } = await endedAt(step, one);
  const { isHalfRemoved, isAnythingLeft } = await loseNewest(bench);
  const isSynced = one.options.durability === "persisted";
  // Of the only segment nothing tells; where nothing is synced its note comes a little later.
  if (isAnythingLeft && (isSynced || isHalfRemoved)) {
    await bench.open();
    const { partition } = bench;
    if (isHalfRemoved) assert.ok(isDamage(partition.fault), "it is damaged");
    if (partition.fault !== undefined) {
      assert.ok(isDamage(partition.fault));
      assert.ok(isDamage(partition.offsetsFault), "an offset may have been stored in it");
      await kept(bench, acknowledged);
      await assert.rejects(bench.append(["more"]), isDamage);
      await bench.reopen({ repair: "known" });
      assert.equal(bench.partition.fault, undefined);
    } else assert.deepEqual(await kept(bench, acknowledged), acknowledged);
    const next = await bench.append(["after"]);
    assert.ok(
      acknowledged.every(({ offset }) => offset < next),
      `offset ${next} was given out before`,
    );
    await bench.kill();
    assert.equal(bench.partition.fault, undefined);
    await bench.close();
  }
  return { isOver, isHalfRemoved };
}

/** One step on a replica: it is told, before anything is changed, and what is missing are files. */
async function replicaAt(step: number, one: Case) {
  const { bench, isOver, acknowledged } = await endedAt(step, {
    ...one,
    options: { ...one.options, isReplica: true },
  });
  const { isHalfRemoved, isAnythingLeft } = await loseNewest(bench);
  const before = await bench.fileNames();
  let told = 0;
  const onSegmentGone = async () => {
    assert.deepEqual(await bench.fileNames(), before);
    told += 1;
  };
  const partition = await bench.openUncommitted({ onSegmentGone });
  if (isHalfRemoved) assert.equal(told, 1, "it is told");
  const isTold = isHalfRemoved || one.note === undefined;
  if (isAnythingLeft && isTold && told === 0 && partition.fault === undefined) {
    partition.commit(partition.lastOp);
    assert.deepEqual(await kept(bench, acknowledged), acknowledged);
  }
  await assertFileIsGone(bench, partition.fault);
  if (partition.fault !== undefined) assert.ok(isDamage(partition.offsetsFault));
  await bench.close();
  return { isOver, isHalfRemoved };
}

async function assertFileIsGone(bench: Bench, fault: CodedError | undefined): Promise<void> {
  if (fault === undefined) return;
  assert.ok(isDamage(fault));
  assert.equal(await bench.disk.stat(String(fault.details["path"])), undefined, "a file is gone, no bit");
}

const PERSISTED = { durability: "persisted", offsetDurability: "persisted" } as const;
const ENDS = [
  ["killed", { options: {}, losesPower: false }],
  ["killed, everything synced", { options: PERSISTED, losesPower: false }],
  ["without power, everything synced", { options: PERSISTED, losesPower: true }],
] as const;

/** Every step of one. */
async function atEachStep(at: typeof aloneAt, one: Case): Promise<void> {
  let halfRemoved = 0;
  for (let step = 0, isOver = false; !isOver; step += 1) {
    assert.ok(step < STEPS_MAX, "it comes to an end");
    const ended = await at(step, one).catch((error: unknown) => {
      throw new Error(`step ${step}`, { cause: error });
    });
    isOver = ended.isOver;
    if (ended.isHalfRemoved) halfRemoved += 1;
  }
  assert.ok(halfRemoved > 0, "some removals were under way");
}

describe("a removal that comes to its end at any step, and the newest segment gone behind it,", () => {
  for (const how of ["purge", "retention"] as const) {
    for (const [whose, end] of ENDS) {
      for (const at of [aloneAt, replicaAt]) {
        it(`(${how}, ${whose}, ${at === aloneAt ? "alone" : "a replica"}) is known for what it is`, async () => {
          for (const count of [1, 4]) await atEachStep(at, { how, count, ...end });
        });
      }
    }
  }

  it("begins once the note is written that tells of the next segment", async () => {
    const [, end] = ENDS[0];
    for (const how of ["purge", "retention"] as const)
      await atEachStep(aloneAt, { how, count: 1, note: "late", ...end });
  });

  it("tells by itself, when it is a purge, that another segment followed", async () => {
    const [, end] = ENDS[0];
    for (const at of [aloneAt, replicaAt])
      await atEachStep(at, { how: "purge", count: 1, note: "refused", ...end });
  });
});
