import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { createChecksumKernel } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { SimDisk } from "@millrace/platform/sim";
import type { PartitionIdentity } from "../op-record/checkpoint.ts";
import { VIEW_FILE } from "./read-view-file.ts";
import { openViewLog, type ViewLog } from "./view-log.ts";
import { FIRST_VIEW, type GroupView, VIEW_RECORD_LENGTH } from "./view-record.ts";

const kernel = createChecksumKernel({ memoryLength: 1_048_576 });
const FILE = `metadata/${VIEW_FILE}`;

function identity(partitionId: number): PartitionIdentity {
  return { streamId: 1, topicId: 2, partitionId, revision: 9 };
}

function open(disk: SimDisk): Promise<ViewLog> {
  return openViewLog({ disk, path: "metadata", kernel, log: silentLog });
}

function write(log: ViewLog, partitionId: number, changes: Partial<GroupView>): Promise<void> {
  return new Promise((resolve, reject) => {
    log.write(identity(partitionId), changes, (error?: CodedError) =>
      error === undefined ? resolve() : reject(error),
    );
  });
}

async function bytesOf(disk: SimDisk): Promise<Uint8Array> {
  return (await disk.readWhole(FILE, 100_000_000)) ?? new Uint8Array();
}

/** Three groups in one file: a record each, then a newer one of the second. */
async function filled(disk: SimDisk): Promise<ViewLog> {
  const log = await open(disk);
  for (const at of [1, 2, 3]) await write(log, at, { view: at, logView: at - 1 });
  await write(log, 2, { view: 7, mayHaveLost: true, cutAbove: 40, hasIncoming: true });
  return log;
}

describe("the views of the groups", () => {
  it("begin at zero and are the newest that were written, also after power loss", async () => {
    const disk = new SimDisk({ seed: 1 });
    const log = await filled(disk);
    assert.deepEqual(log.get(identity(4)), FIRST_VIEW);
    const expected = [
      { ...FIRST_VIEW, view: 1 },
      { ...FIRST_VIEW, view: 7, logView: 1, mayHaveLost: true, cutAbove: 40, hasIncoming: true },
      { ...FIRST_VIEW, view: 3, logView: 2 },
    ];
    assert.deepEqual(
      [1, 2, 3].map((at) => log.get(identity(at))),
      expected,
    );
    const after = await open(disk.crash({ keep: "none" }));
    assert.deepEqual(
      [1, 2, 3].map((at) => after.get(identity(at))),
      expected,
    );
  });

  it("of another revision of the same partition are another group's", async () => {
    const log = await filled(new SimDisk({ seed: 1 }));
    assert.deepEqual(log.get({ ...identity(1), revision: 10 }), FIRST_VIEW);
  });

  it("share one sync when they queue, and each change sees the one before", async () => {
    const disk = new SimDisk({ seed: 1 });
    const log = await open(disk);
    let syncs = 0;
    disk.setFaults((call) => {
      if (call.kind === "datasync") syncs += 1;
      return undefined;
    });
    const many = Array.from({ length: 500 }, (_, at) => write(log, at % 250, { view: at, logView: 0 }));
    await Promise.all([...many, write(log, 3, { logView: 200 })]);
    assert.equal(syncs, 1);
    assert.deepEqual(log.get(identity(3)), { ...FIRST_VIEW, view: 253, logView: 200 });
  });

  it("are not answered for before they survive power loss", async () => {
    const disk = new SimDisk({ seed: 1 });
    const log = await open(disk);
    const writing = write(log, 1, { view: 5 });
    assert.deepEqual(log.get(identity(1)), FIRST_VIEW);
    await writing;
    assert.equal(log.get(identity(1)).view, 5);
  });

  it("take no more once a write or a sync failed, until the next start", async () => {
    for (const kind of ["write", "datasync"] as const) {
      const disk = new SimDisk({ seed: 1 });
      const log = await filled(disk);
      disk.setFaults((call) => (call.kind === kind ? { kind: "error", errno: "EIO" } : undefined));
      const isFenced = (error: unknown) => isCodedError(error, ErrorCode.FileFenced);
      await assert.rejects(write(log, 1, { view: 9 }), isFenced);
      disk.setFaults(() => undefined);
      await assert.rejects(write(log, 1, { view: 9 }), isFenced);
      assert.equal(log.get(identity(1)).view, 1);
      assert.ok(isFenced(log.fault));
    }
  });

  it("wait for whoever asks again when the disk is full, and are fenced when that is found late", async () => {
    for (const kind of ["write", "datasync"] as const) {
      const disk = new SimDisk({ seed: 1 });
      const log = await open(disk);
      await write(log, 1, { view: 1 });
      const fault = { kind: "error", errno: "ENOSPC", writtenLength: 20 } as const;
      disk.setFaults((call) => (call.kind === kind ? fault : undefined));
      const code = kind === "write" ? ErrorCode.DiskFull : ErrorCode.FileFenced;
      await assert.rejects(write(log, 1, { view: 2 }), (error: unknown) => isCodedError(error, code));
      disk.setFaults(undefined);
      if (kind === "datasync") continue;
      assert.equal(log.get(identity(1)).view, 1);
      await write(log, 1, { view: 2 });
      await log.close();
      assert.equal((await open(disk.crash({ keep: "none" }))).get(identity(1)).view, 2);
    }
  });

  it("lose nothing but what a crash cut short at the end", async () => {
    const disk = new SimDisk({ seed: 1 });
    await (await filled(disk)).close();
    const bytes = await bytesOf(disk);
    for (let length = bytes.length - VIEW_RECORD_LENGTH; length < bytes.length; length += 1) {
      await disk.writeWhole(FILE, bytes.slice(0, length));
      const log = await open(disk);
      assert.equal(log.get(identity(2)).view, 2, `cut at ${length}`);
      await log.close();
    }
    const blank = new Uint8Array(bytes.length + 3 * VIEW_RECORD_LENGTH);
    blank.set(bytes);
    await disk.writeWhole(FILE, blank);
    assert.equal((await open(disk)).get(identity(2)).view, 7);
  });

  it("refuse a start when any byte of a record has changed", async () => {
    const disk = new SimDisk({ seed: 1 });
    await (await filled(disk)).close();
    const bytes = await bytesOf(disk);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      await disk.writeWhole(FILE, changed);
      await assert.rejects(open(disk), (error: unknown) => {
        if (!isCodedError(error, ErrorCode.MetadataDamaged)) throw error;
        return error.details["path"] === FILE && error.details["position"] === at - (at % VIEW_RECORD_LENGTH);
      });
    }
  });

  it("are written anew when their file has grown long, and forgotten groups go", async () => {
    const disk = new SimDisk({ seed: 1 });
    const log = await filled(disk);
    log.forget(identity(3));
    for (let round = 0; round < 5; round += 1) {
      const many = Array.from({ length: 4000 }, (_, at) => write(log, 1, { view: round * 4000 + at + 10 }));
      await Promise.all(many);
    }
    assert.ok((await bytesOf(disk)).length < 1_048_576);
    await write(log, 2, { cutAbove: undefined, hasIncoming: false });
    await log.close();
    const after = await open(disk.crash({ keep: "none" }));
    assert.equal(after.get(identity(1)).view, 20_009);
    assert.deepEqual(after.get(identity(2)), { ...FIRST_VIEW, view: 7, logView: 1, mayHaveLost: true });
    assert.deepEqual(after.get(identity(3)), FIRST_VIEW);
  });
});
