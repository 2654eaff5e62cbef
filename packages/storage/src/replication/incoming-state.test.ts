import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { silentLog } from "@millrace/platform";
import { type CrashKeep, SimDisk } from "@millrace/platform/sim";
import { Bench, IDENTITY, kernel, PATH } from "../partition/partition-fixture.test.ts";
import { readAt } from "../segment/file-calls.ts";
import { TailCache } from "../tail-cache/tail-cache.ts";
import type { StateDescription } from "./describe-state.ts";
import { IncomingState, installIncoming } from "./incoming-state.ts";

const INCOMING = "incoming/1-2-3-9";
const SEGMENT_LENGTH_MAX = 1500;

/** A partition that sealed some segments, forgot the oldest, and holds ops that are not committed. */
async function giver(): Promise<Bench> {
  const bench = await Bench.open({ segmentLengthMax: SEGMENT_LENGTH_MAX });
  for (let at = 0; at < 12; at += 1) await bench.append([`${at} a`.repeat(30), `${at} b`]);
  await bench.storeOffset(1, 7, 3);
  await bench.truncate(9);
  bench.commitMax = bench.partition.lastOp;
  for (let at = 12; at < 14; at += 1) await bench.append([`${at} not committed`]);
  return bench;
}

/** Ops that are not committed: what they take away or begin is not so yet. */
const UNCOMMITTED: Readonly<Record<string, (bench: Bench) => Promise<unknown>>> = {
  "a purge": (bench) => bench.purge(),
  "a purge and a message": async (bench) => {
    await bench.purge();
    await bench.append(["behind the purge"]);
  },
  "a message that begins a segment": (bench) => bench.append(["next"]),
  "a truncation": (bench) => bench.truncate(9),
  "a truncation before a message that begins a segment": async (bench) => {
    await bench.truncate(9);
    await bench.append(["next"]);
  },
};

async function describedBy(bench: Bench): Promise<StateDescription> {
  const described = await bench.partition.describeState();
  assert.ok(described !== undefined);
  return described;
}

/** What the giver's files hold goes into the folder of what is incoming on another disk. */
async function fetched(from: Bench, to: SimDisk, described: StateDescription): Promise<IncomingState> {
  const incoming = new IncomingState(to, INCOMING);
  await incoming.begin(described.files);
  for (const { name, length } of described.files) {
    const file = await from.disk.openFile(`${PATH}/${name}`, "read");
    for (let position = 0; position < length; position += 1000) {
      const bytes = new Uint8Array(Math.min(1000, length - position));
      assert.equal(await readAt(file, bytes, position), bytes.length);
      await incoming.write(name, position, bytes);
    }
    await file.close();
  }
  return incoming;
}

function optionsOn({ pool }: Bench, disk: SimDisk) {
  return {
    ...{ disk, path: PATH, identity: IDENTITY, kernel, pool, log: silentLog },
    ...({
      tailCache: new TailCache({ lengthMax: 10_000 }),
      role: "exclusive",
      validateChecksums: true,
    } as const),
    ...{ segmentLengthMax: SEGMENT_LENGTH_MAX, consumerOffsetsMax: 100, isReplica: true },
    ...({ durability: "persisted", offsetDurability: "persisted" } as const),
  };
}

/** An older state of the same partition on a disk of its own; both use the same memory. */
async function lagging({ pool }: Bench): Promise<Bench> {
  const bench = await Bench.open({
    ...{ segmentLengthMax: SEGMENT_LENGTH_MAX, durability: "persisted", offsetDurability: "persisted" },
    ...{ disk: new SimDisk({ seed: 5 }), pool },
  });
  await bench.append(["old"]);
  await bench.partition.close();
  return bench;
}

describe("a fetched state of a partition", () => {
  it("is what was committed, and the op behind it follows.", async () => {
    const from = await giver();
    const to = await lagging(from);
    const described = await describedBy(from);
    assert.equal(described.op, from.partition.lastOp - 2);
    const incoming = await fetched(from, to.disk, described);
    await incoming.settle(optionsOn(from, to.disk), described);
    await installIncoming(to.disk, { from: INCOMING, to: PATH });
    await to.open({ isReplica: true });
    const { partition } = to;
    assert.deepEqual(
      [partition.fault, partition.lastOp, partition.lastOpChecksum, partition.committedOp],
      [undefined, described.op, described.opChecksum, described.op],
    );
    assert.equal(partition.consumerOffset(1, 7), 3);
    assert.equal(partition.firstOffset, 8);
    assert.deepEqual(await to.readAll(partition.firstOffset), await from.readAll(from.partition.firstOffset));
    const next = await from.partition.readPrepare(described.op + 1);
    assert.equal(next?.header.parent, partition.lastOpChecksum);
    next?.batchLease?.release();
    await to.partition.close();
    await from.close();
  });

  it("says itself where its newest segment begins, so that one is missed when it is gone.", async () => {
    const from = await giver();
    const to = await lagging(from);
    const described = await describedBy(from);
    const incoming = await fetched(from, to.disk, described);
    await incoming.settle(optionsOn(from, to.disk), described);
    await installIncoming(to.disk, { from: INCOMING, to: PATH });
    const newest = (await to.fileNames()).sort().at(-1)?.slice(0, 20) ?? "";
    for (const kind of ["log", "ops", "index"]) await to.disk.removeFile(`${PATH}/${newest}.${kind}`);
    let told = 0;
    const onSegmentGone = async () => {
      told += 1;
    };
    await to.openUncommitted({ isReplica: true, onSegmentGone });
    // It also told that the first segment was removed.
    const { path } = to.partition.fault?.details ?? {};
    assert.deepEqual([told, path], [1, `${PATH}/${"0".repeat(20)}.log`]);
    await to.partition.close();
    await from.close();
  });

  it("says where each of its segments begins: the two newest are missed, also three.", async () => {
    for (const count of [2, 3]) {
      const from = await Bench.open({ segmentLengthMax: SEGMENT_LENGTH_MAX });
      for (let at = 0; at < 40; at += 1) await from.append([`${at} a`.repeat(30), `${at} b`]);
      const to = await lagging(from);
      const described = await describedBy(from);
      const incoming = await fetched(from, to.disk, described);
      await incoming.settle(optionsOn(from, to.disk), described);
      await installIncoming(to.disk, { from: INCOMING, to: PATH });
      const segments = (await to.fileNames()).filter((one) => one.endsWith(".ops")).sort();
      assert.ok(segments.length > count + 1);
      for (const one of segments.slice(-count)) {
        for (const kind of ["log", "ops", "index"]) {
          await to.disk.removeFile(`${PATH}/${one.slice(0, 20)}.${kind}`);
        }
      }
      let told = 0;
      const onSegmentGone = async () => {
        told += 1;
      };
      await to.openUncommitted({ isReplica: true, onSegmentGone });
      assert.deepEqual([told, to.partition.fault], [1, undefined]);
      await to.partition.close();
      await from.close();
    }
  });

  it("reaches to the last committed op whatever the ops behind it take away or begin, also after a start.", async () => {
    for (const [what, go] of Object.entries(UNCOMMITTED)) {
      for (const isStarted of [false, true]) {
        const from = await Bench.open({ segmentLengthMax: SEGMENT_LENGTH_MAX, durability: "persisted" });
        for (let at = 0; at < 12; at += 1) await from.append([`${at} a`.repeat(30), `${at} b`]);
        await from.storeOffset(1, 7, 3);
        await from.append(["fills its segment".repeat(100)]);
        const { lastOp, lastOpChecksum } = from.partition;
        const messages = await from.readAll();
        from.commitMax = lastOp;
        await go(from);
        if (isStarted) {
          await from.partition.close();
          await from.openUncommitted({ isReplica: true });
        }
        const to = await lagging(from);
        const described = await describedBy(from);
        assert.deepEqual([described.op, described.opChecksum], [lastOp, lastOpChecksum], what);
        const incoming = await fetched(from, to.disk, described);
        await incoming.settle(optionsOn(from, to.disk), described);
        await installIncoming(to.disk, { from: INCOMING, to: PATH });
        await to.open({ isReplica: true });
        assert.deepEqual([to.partition.fault, to.partition.lastOp], [undefined, lastOp], what);
        assert.equal(to.partition.consumerOffset(1, 7), 3, what);
        assert.deepEqual(await to.readAll(), messages, what);
        const next = await from.partition.readPrepare(lastOp + 1);
        assert.equal(next?.header.parent, lastOpChecksum, what);
        next?.batchLease?.release();
        await to.partition.close();
        await from.close();
      }
    }
  });

  it("is not used when any of its files is changed, and the partition is as it was.", async () => {
    const from = await giver();
    const to = await lagging(from);
    const described = await describedBy(from);
    for (const { name, length } of described.files.filter((file) => file.length > 0)) {
      const incoming = await fetched(from, to.disk, described);
      to.disk.flipBit(`${INCOMING}/${name}`, 8 * Math.floor(length / 2) + 3);
      const settled = incoming.settle(optionsOn(from, to.disk), described);
      const isRefused = (error: unknown) => isCodedError(error, ErrorCode.PartitionDamaged);
      await assert.rejects(settled, isRefused, `${name} of ${length} bytes`);
      await incoming.discard();
    }
    assert.deepEqual(await to.disk.readDirectory("incoming"), []);
    await to.open();
    assert.equal(to.partition.lastOp, 1);
    await to.partition.close();
    await from.close();
  });

  it("is refused when it names what is no file of a segment, or one twice.", async () => {
    const incoming = new IncomingState(new SimDisk(), INCOMING);
    const log = { name: "00000000000000000000.log", length: 1 };
    for (const files of [[{ name: "../x.log", length: 1 }], [{ ...log, name: "1.index" }], [log, log]]) {
      await assert.rejects(incoming.begin(files), (error: unknown) =>
        isCodedError(error, ErrorCode.PartitionDamaged),
      );
    }
  });

  it("takes the place of the files whole, whenever a kill or a loss of power interrupts that.", async () => {
    const from = await giver();
    const described = await describedBy(from);
    for (const keep of ["kill", "none", "all", "random"] as const) {
      for (let calls = 0; ; calls += 1) {
        const to = await lagging(from);
        const incoming = await fetched(from, to.disk, described);
        await incoming.settle(optionsOn(from, to.disk), described);
        const isOver = await installedUntil(to.disk, calls);
        to.disk = ended(to.disk, keep);
        await installIncoming(to.disk, { from: INCOMING, to: PATH });
        await to.open({ isReplica: true });
        assert.equal(to.partition.lastOp, described.op, `${keep} behind ${calls} calls`);
        assert.equal(to.partition.fault, undefined);
        await to.partition.close();
        if (isOver) break;
      }
    }
    await from.close();
  });
});

/** Installs until the disk has taken so many calls, and fails from there on; true when that was all of it. */
async function installedUntil(disk: SimDisk, callsMax: number): Promise<boolean> {
  let calls = 0;
  disk.setFaults(() => {
    calls += 1;
    return calls > callsMax ? { kind: "error", errno: "EIO" } : undefined;
  });
  const isOver = await installIncoming(disk, { from: INCOMING, to: PATH }).then(
    () => true,
    () => false,
  );
  disk.setFaults(undefined);
  return isOver;
}

function ended(disk: SimDisk, how: CrashKeep | "kill"): SimDisk {
  return how === "kill" ? disk.kill() : disk.crash({ keep: how });
}
