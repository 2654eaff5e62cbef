import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { faultAt, SimDisk } from "@millrace/platform/sim";
import { Bench, name, PATH } from "../partition/partition-fixture.test.ts";

const PERSISTED = { durability: "persisted", offsetDurability: "persisted" } as const;
const EIO = { kind: "error", errno: "EIO" } as const;

/** Ends the process by losing the power, with nothing that was not synced, and opens again. */
async function losePower(bench: Bench): Promise<void> {
  bench.disk = bench.disk.crash({ keep: "none" });
  await bench.abandon();
  await bench.open();
}

describe("what a start reads back of a persisted topic", () => {
  it("survives power loss once it was served, though its writer died before the datasync", async () => {
    const bench = await Bench.open({ ...PERSISTED, disk: new SimDisk({ seed: 1 }) });
    await bench.append(["a"]);
    const stuck = faultAt(0, ({ kind }) => kind === "datasync", EIO);
    bench.disk.setFaults(stuck);
    await assert.rejects(bench.append(["b"]), (error) => isCodedError(error, ErrorCode.FileFenced));
    bench.disk.setFaults(undefined);
    await bench.kill();
    const served = await bench.readAll();
    assert.deepEqual(
      served.map(({ text }) => text),
      ["a", "b"],
      "it was written, and the process that is gone did not say that it was not",
    );
    await losePower(bench);
    assert.equal(bench.partition.fault, undefined);
    assert.deepEqual(await bench.readAll(), served);
    await bench.close();
  });

  it("survives power loss also when what led to its segment is gone and its first record is damaged", async () => {
    const bench = await Bench.open({ ...PERSISTED, disk: new SimDisk({ seed: 3 }) });
    await bench.append(["purged"]);
    await bench.purge();
    await bench.append(["a"]);
    await bench.partition.filesRemoved();
    bench.disk.setFaults(faultAt(0, ({ kind }) => kind === "datasync", EIO));
    await assert.rejects(bench.append(["b"]), (error) => isCodedError(error, ErrorCode.FileFenced));
    bench.disk.setFaults(undefined);
    bench.disk = bench.disk.kill();
    await bench.abandon();
    bench.disk.flipBit(`${PATH}/${name(0, "ops", 1)}`, 8 * 130);
    await bench.open();
    assert.ok(isCodedError(bench.partition.fault, ErrorCode.PartitionDamaged), `${bench.partition.fault}`);
    const served = await bench.readAll();
    assert.deepEqual(
      served.map(({ text }) => text),
      ["a", "b"],
      "every batch is served that verifies",
    );
    await losePower(bench);
    assert.deepEqual(await bench.readAll(), served);
    assert.ok(!(await bench.fileNames()).includes(name(0, "ops")), "what was removed is gone for good");
    await bench.close();
  });

  it("is not written again when two reads of it differ: the partition is fenced and the file as it was", async () => {
    const bench = await Bench.open({ ...PERSISTED, disk: new SimDisk({ seed: 2 }) });
    await bench.append(["a"]);
    const left = bench.disk.kill();
    await bench.abandon();
    bench.disk = left;
    const [logName = ""] = (await bench.fileNames()).filter((name) => name.endsWith(".log"));
    const before = await bench.fileBytes(logName);
    let reads = 0;
    bench.disk.setFaults(({ kind, path }) => {
      if (kind !== "read" || !path.endsWith(".log")) return undefined;
      reads += 1;
      return reads > 1 ? { kind: "flip-bit", bit: reads } : undefined;
    });
    await bench.open();
    bench.disk.setFaults(undefined);
    assert.ok(isCodedError(bench.partition.fault, ErrorCode.FileFenced), `${bench.partition.fault}`);
    assert.deepEqual(await bench.fileBytes(logName), before);
    await bench.close();
  });
});
