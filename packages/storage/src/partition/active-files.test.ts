import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { type DiskFile, diskError, silentLog } from "@millrace/platform";
import { SimDisk } from "@millrace/platform/sim";
import { ActiveFiles } from "./active-files.ts";
import { IDENTITY } from "./partition-fixture.test.ts";
import { PartitionState } from "./partition-state.ts";

const isFenced = (error: unknown) => isCodedError(error, ErrorCode.FileFenced);

/** Fault of a partition that had `before` when a sync of its files failed. */
async function faultAfterFailedSync(before?: CodedError): Promise<number | undefined> {
  const disk = new SimDisk({ seed: 5 });
  const log = await disk.openFile("a.log", "create");
  const ops = await disk.openFile("a.ops", "create");
  const state = new PartitionState({ path: "", identity: IDENTITY, log: silentLog });
  state.fault = before;
  const files = new ActiveFiles(disk, state, { log, ops });
  disk.setFaults(({ kind }) => (kind === "datasync" ? { kind: "error", errno: "EIO" } : undefined));
  await assert.rejects(files.sync(), isFenced);
  disk.setFaults(undefined);
  await files.close();
  return state.fault?.code;
}

it("A failed sync fences also a partition that a full disk had stopped: space does not mend it.", async () => {
  assert.equal(await faultAfterFailedSync(), ErrorCode.FileFenced);
  assert.equal(await faultAfterFailedSync(new CodedError(ErrorCode.DiskFull)), ErrorCode.FileFenced);
  const damage = new CodedError(ErrorCode.PartitionDamaged);
  assert.equal(await faultAfterFailedSync(damage), ErrorCode.PartitionDamaged);
});

/** Files whose datasyncs end when the test says so: what each ends with, in the order in which they began. */
async function filesInHand() {
  const waiting: ((errno?: string) => void)[] = [];
  const held = async (name: string): Promise<DiskFile> => {
    const file = await disk.openFile(name, "create");
    file.datasync = (done) =>
      waiting.push((errno) =>
        done(errno === undefined ? undefined : diskError({ operation: "datasync", path: name, errno })),
      );
    return file;
  };
  const disk = new SimDisk({ seed: 5 });
  const state = new PartitionState({ path: "", identity: IDENTITY, log: silentLog });
  const files = new ActiveFiles(disk, state, { log: await held("a.log"), ops: await held("a.ops") });
  const answers: (CodedError | undefined)[] = [];
  const syncGroup = () => files.syncGroup((error) => answers.push(error));
  return { files, state, waiting, answers, syncGroup };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe("A group's datasync beside another sync of the same files", () => {
  it("is not believed before that one is over, and not when it fails", async () => {
    for (const errno of [undefined, "EIO"]) {
      const { files, waiting, answers, syncGroup } = await filesInHand();
      const other = files.sync().then(
        () => undefined,
        (error: unknown) => error,
      );
      await soon();
      syncGroup();
      for (const end of waiting.slice(2)) end();
      await soon();
      assert.equal(answers.length, 0, "the other one is still under way");
      waiting[0]?.();
      waiting[1]?.(errno);
      await soon();
      assert.equal(answers.length, 1);
      assert.equal(answers[0]?.code, errno && ErrorCode.FileFenced);
      assert.equal(isFenced(await other), errno !== undefined);
    }
  });

  it("is not believed when that one failed first", async () => {
    const { files, waiting, answers, syncGroup } = await filesInHand();
    const other = assert.rejects(files.sync(), isFenced);
    await soon();
    syncGroup();
    waiting[0]?.("EIO");
    await other;
    for (const end of waiting.slice(1)) end();
    await soon();
    assert.equal(answers[0]?.code, ErrorCode.FileFenced);
  });

  it("is waited for by whoever asks for a sync meanwhile, and its failure is that one's too", async () => {
    for (const errno of [undefined, "EIO"]) {
      const { files, state, waiting, answers, syncGroup } = await filesInHand();
      syncGroup();
      let outcome: unknown = "open";
      void files.sync().then(
        () => {
          outcome = undefined;
        },
        (error: unknown) => {
          outcome = error;
        },
      );
      await soon();
      for (const end of waiting.slice(2)) end();
      await soon();
      assert.equal(outcome, "open", "the group's datasyncs are under way");
      waiting[0]?.(errno);
      waiting[1]?.();
      await soon();
      assert.equal(isFenced(outcome), errno !== undefined);
      assert.equal(state.fault?.code, errno && ErrorCode.FileFenced);
      assert.equal(answers.length, 1);
    }
  });
});

/** Hears how a promise ended: "open" until then, then nothing or what it was rejected with. */
function outcomeOf(promise: Promise<void>): { now: unknown } {
  const outcome: { now: unknown } = { now: "open" };
  const note = (error?: unknown) => {
    outcome.now = error;
  };
  promise.then(() => note(), note);
  return outcome;
}

describe("Syncs outside the groups", () => {
  it("come one after the other, however many are asked for at once; one answers for all it covers", async () => {
    const { files, waiting } = await filesInHand();
    const outcomes = [files.sync(), files.sync(), files.sync()].map(outcomeOf);
    await soon();
    assert.equal(waiting.length, 2, "both files, once");
    files.noteWritten();
    for (const end of waiting.slice(0, 2)) end();
    await soon();
    assert.equal(waiting.length, 4, "what was written meanwhile takes one more");
    assert.deepEqual(
      outcomes.map(({ now }) => now),
      [undefined, "open", "open"],
    );
    for (const end of waiting.slice(2)) end();
    await soon();
    assert.equal(waiting.length, 4);
    assert.deepEqual(
      outcomes.map(({ now }) => now),
      [undefined, undefined, undefined],
    );
  });

  it("fail all when the one that they waited for did, without another try", async () => {
    const { files, waiting, state } = await filesInHand();
    const outcomes = [files.sync(), files.sync(), files.sync()].map(outcomeOf);
    await soon();
    waiting[0]?.("EIO");
    waiting[1]?.();
    await soon();
    assert.equal(waiting.length, 2);
    assert.ok(outcomes.every(({ now }) => isFenced(now)));
    assert.equal(state.fault?.code, ErrorCode.FileFenced);
  });

  it("wait for one that `settle` began, whoever of them asked first", async () => {
    const { files, waiting } = await filesInHand();
    void files.settle();
    const outcomes = [files.sync(), files.sync()].map(outcomeOf);
    await soon();
    assert.equal(waiting.length, 1);
    waiting[0]?.();
    await soon();
    assert.equal(waiting.length, 3);
    for (const end of waiting.slice(1)) end();
    await soon();
    assert.ok(outcomes.every(({ now }) => now === undefined));
  });
});

describe("A sync outside the groups beside a group that began later", () => {
  it("is not believed before the group's datasyncs are over, and not when they fail", async () => {
    for (const errno of [undefined, "EIO"]) {
      const { files, waiting, syncGroup } = await filesInHand();
      const other = outcomeOf(files.sync());
      await soon();
      syncGroup();
      for (const end of waiting.slice(0, 2)) end();
      await soon();
      assert.equal(other.now, "open", "the group's datasyncs are under way");
      waiting[2]?.(errno);
      waiting[3]?.();
      await soon();
      assert.equal(isFenced(other.now), errno !== undefined);
    }
  });

  it("is not believed when the group failed first, be it for a reason that may pass", async () => {
    for (const errno of ["EIO", "ENOSPC"]) {
      const { files, state, waiting, syncGroup } = await filesInHand();
      const other = outcomeOf(files.sync());
      await soon();
      syncGroup();
      waiting[2]?.(errno);
      waiting[3]?.();
      for (const end of waiting.slice(0, 2)) end();
      await soon();
      assert.ok(isFenced(other.now), errno);
      assert.equal(state.fault?.code, ErrorCode.FileFenced);
    }
  });
});
