import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { baseOffsetAt } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { SeededRandom } from "@millrace/testkit";
import { Bench, IDENTITY, kernel, PATH } from "../partition/partition-fixture.test.ts";
import { cutPartition } from "./cut-partition.ts";

/** Small enough that some ops lie in every segment. */
const SEGMENT_LENGTH_MAX = 2000;
const REPLICA = { segmentLengthMax: SEGMENT_LENGTH_MAX, isReplica: true } as const;

async function replica(options: ConstructorParameters<typeof Bench>[0] = {}): Promise<Bench> {
  const bench = await Bench.open({ ...REPLICA, ...options });
  bench.isNumbered = true;
  return bench;
}

/** Ends the process at once and starts as a replica does. */
async function killAndStart(bench: Bench): Promise<void> {
  bench.disk = bench.disk.kill();
  await bench.abandon();
  await bench.openUncommitted();
}

/** Checksums of the ops that were journaled and are not known to be committed, as they are read back. */
async function suffixOf({ partition }: Bench): Promise<bigint[]> {
  assert.equal(partition.fault, undefined);
  const checksums: bigint[] = [];
  for (let op = partition.committedOp + 1; op <= partition.lastOp; op += 1) {
    const prepare = await partition.readPrepare(op);
    assert.ok(prepare !== undefined, `op ${op} of ${partition.committedOp}..${partition.lastOp} is there`);
    assert.equal(prepare.header.op, op);
    checksums.push(prepare.header.checksum);
    prepare.batchLease?.release();
  }
  return checksums;
}

/** One op of a history; what it is a seed decides. */
async function step(bench: Bench, random: SeededRandom): Promise<void> {
  const kind = random.below(14);
  if (kind < 8) await bench.append([`${bench.partition.lastOp} `.repeat(1 + random.below(200))]);
  else if (kind === 8) await bench.append(["behind a hole"], 1 + random.below(3));
  else if (kind < 11) await bench.storeOffset(1, random.below(3) + 1, random.below(10));
  else if (kind === 11) await bench.truncate(Math.max(0, bench.partition.nextOffset - random.below(10)));
  else if (kind === 12) await bench.purge();
  else await bench.deleteOffset(1, random.below(3) + 1);
}

/** Kills, clean stops and cuts at any place of a history whose commit lags behind. */
async function suffixStays(seed: number, options: ConstructorParameters<typeof Bench>[0]): Promise<void> {
  const random = new SeededRandom(seed);
  const bench = await replica(options);
  const journal: bigint[] = [0n];
  let known = 0;
  for (let round = 0; round < 6; round += 1) {
    bench.commitMax = bench.partition.committedOp;
    for (let count = random.below(25); count > 0; count -= 1) {
      await step(bench, random);
      journal.push(bench.partition.lastOpChecksum);
      if (random.below(4) > 0) continue;
      bench.commitMax += random.below(bench.partition.lastOp - bench.commitMax + 1);
      bench.partition.commit(bench.commitMax);
      if (random.below(2) === 0) await bench.partition.filesRemoved();
    }
    if (random.below(2) === 0) {
      bench.disk = bench.disk.kill();
      await bench.abandon();
    } else await bench.close();
    if (random.below(3) === 0) {
      const keep = bench.commitMax + random.below(journal.length - bench.commitMax);
      await cutPartition({ disk: bench.disk, path: PATH, identity: IDENTITY, kernel, log: silentLog }, keep);
      journal.length = keep + 1;
    }
    await bench.openUncommitted();
    const { committedOp, lastOp } = bench.partition;
    assert.equal(lastOp, journal.length - 1, `seed ${seed}: every op is there`);
    assert.ok(committedOp >= known && committedOp <= bench.commitMax, `seed ${seed}: what is committed`);
    known = committedOp;
    assert.deepEqual(await suffixOf(bench), journal.slice(committedOp + 1), `seed ${seed}`);
  }
  await bench.close();
}

describe("the end of a replica's journal that is not known to be committed", () => {
  it("is read back after any kill, stop and cut, whatever its ops take away", async () => {
    for (let seed = 1; seed <= 24; seed += 1) {
      await suffixStays(seed, { durability: seed % 2 === 0 ? "replicated" : "persisted" });
    }
  });

  it("is read back from below a purge that is not committed", async () => {
    const bench = await replica();
    await bench.append(["first"]);
    bench.commitMax = 1;
    await bench.append(["second"]);
    await bench.purge();
    await bench.append(["third"]);
    await killAndStart(bench);
    assert.equal(bench.partition.isAhead, true, "the purge is told as if it were committed");
    const second = await bench.partition.readPrepare(2);
    assert.equal(second?.batchLease && baseOffsetAt(kernel.memory.view, second.batchLease.position), 1);
    second?.batchLease?.release();
    bench.partition.commit(3);
    assert.equal(bench.partition.isAhead, false);
    await bench.partition.filesRemoved();
    assert.equal(await bench.partition.readPrepare(2), undefined, "a committed purge took it away");
    await bench.close();
  });

  it("is read back after a clean stop below a truncation that is not committed", async () => {
    const bench = await replica();
    for (let at = 0; at < 4; at += 1) await bench.append(["long ".repeat(500)]);
    bench.commitMax = 2;
    await bench.close();
    await bench.open();
    bench.commitMax = 4;
    await bench.truncate(3);
    await bench.close();
    await bench.openUncommitted();
    assert.equal(bench.partition.isAhead, true);
    assert.equal((await suffixOf(bench)).length, 1);
    const first = await bench.partition.readPrepare(1);
    assert.ok(first?.batchLease, "what the truncation covers is kept");
    first.batchLease.release();
    bench.partition.commit(5);
    await bench.partition.filesRemoved();
    assert.equal(bench.partition.firstOffset, 3);
    assert.equal(await bench.partition.readPrepare(1), undefined);
    await bench.close();
  });

  it("says how far it is committed before the files of committed ops go", async () => {
    const bench = await replica();
    bench.commitMax = 0;
    await bench.append(["first"]);
    await bench.append(["second"]);
    await bench.purge();
    bench.partition.commit(3);
    await bench.partition.filesRemoved();
    await killAndStart(bench);
    assert.equal(bench.partition.committedOp, 3, "nothing was written behind the purge");
    assert.equal(bench.partition.isAhead, false);
    bench.commitMax = 4;
    await bench.append(["third"]);
    await bench.close();
    await bench.openUncommitted();
    assert.deepEqual(await bench.readAll(), [{ offset: 0, text: "third" }], "the journal goes on");
    await bench.close();
  });

  it("survives power loss in that moment on a persisted topic", async () => {
    const bench = await replica({ durability: "persisted" });
    bench.commitMax = 0;
    await bench.append(["first"]);
    await bench.purge();
    bench.partition.commit(2);
    await bench.partition.filesRemoved();
    bench.disk = bench.disk.crash({ keep: "none" });
    await bench.abandon();
    await bench.openUncommitted();
    assert.equal(bench.partition.committedOp, 2);
    await bench.close();
  });

  it("keeps files when the mark cannot be written, and goes on where the disk was only full", async () => {
    for (const errno of ["ENOSPC", "EIO"] as const) {
      const bench = await replica();
      bench.commitMax = 0;
      await bench.append(["first"]);
      await bench.purge();
      bench.disk.setFaults((call) =>
        call.kind === "write" && call.path.endsWith(".ops") ? { kind: "error", errno } : undefined,
      );
      bench.partition.commit(2);
      await bench.partition.filesRemoved();
      bench.disk.setFaults(() => undefined);
      assert.equal(bench.partition.fault === undefined, errno === "ENOSPC");
      assert.ok((await bench.fileNames()).includes("00000000000000000000.log"));
      if (errno === "ENOSPC") await bench.append(["second"]);
      await killAndStart(bench);
      assert.equal((await suffixOf(bench)).length, errno === "ENOSPC" ? 1 : 2);
      await bench.close();
    }
  });
});
