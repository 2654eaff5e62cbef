import assert from "node:assert/strict";
import { it } from "node:test";
import { createChecksumKernel } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { SimDisk } from "@millrace/platform/sim";
import { openViewLog, type Partition } from "@millrace/storage";
import type { GroupContext, ReplicationContext } from "./group-context.ts";
import { GroupRecovery } from "./group-recovery.ts";
import { partitionPath } from "./partition-path.ts";

const IDENTITY = { streamId: 0, topicId: 0, partitionId: 0, revision: 4 };
const kernel = createChecksumKernel({ memoryLength: 1_048_576 });
const log = silentLog;

/** A start of a node that finds a partition's segment, of which its views say nothing. */
async function startOn(disk: SimDisk) {
  const viewLog = await openViewLog({ disk, path: "metadata", kernel, log });
  const replication = { viewLog, hasLostUnsynced: false, isForgotten: () => false };
  const recovery = new GroupRecovery({ kernel, log } as unknown as GroupContext, {
    replication: replication as unknown as ReplicationContext,
    identity: IDENTITY,
    disk,
  });
  await recovery.prepare({ isSynced: false });
  return { viewLog, recovery };
}

it("A replica that forgot what it said forgets it still after a kill, though its newest segment is gone too.", async () => {
  let disk = new SimDisk();
  const path = partitionPath(IDENTITY);
  for (const folder of ["metadata", path]) await disk.makeDirectory(folder);
  await (await disk.openFile(`${path}/${"0".repeat(20)}.ops`, "create")).close();
  for (let start = 0; start < 2; start += 1) {
    const { viewLog, recovery } = await startOn(disk);
    assert.equal(recovery.isLossKnown, true);
    await recovery.noteSegmentGone();
    assert.equal(viewLog.has(IDENTITY), false, "nothing passes for its view");
    await viewLog.close();
    disk = disk.kill();
  }
});

it("A replica with a journaled operation in no file any more goes on as one that lost its log.", async () => {
  const disk = new SimDisk();
  const path = partitionPath(IDENTITY);
  for (const folder of ["metadata", path]) await disk.makeDirectory(folder);
  await (await disk.openFile(`${path}/${"0".repeat(20)}.ops`, "create")).close();
  const before = await openViewLog({ disk, path: "metadata", kernel, log });
  await before.note(IDENTITY, { view: 3, logView: 3 });
  await before.close();
  const { viewLog, recovery } = await startOn(disk);
  const partition = { fault: undefined, committedOp: 4, lastOp: 6, readPrepare: async () => undefined };
  const recovered = await recovery.recover(partition as unknown as Partition);
  assert.deepEqual(
    [recovered.isLost, recovered.stateNeeded, recovered.suffix, recovery.isLossKnown],
    [true, 4, [], true],
  );
  assert.deepEqual([viewLog.get(IDENTITY).view, viewLog.get(IDENTITY).logView], [3, 0]);
  await viewLog.close();
});
