import assert from "node:assert/strict";
import { it } from "node:test";
import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { silentLog } from "@millrace/platform";
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
