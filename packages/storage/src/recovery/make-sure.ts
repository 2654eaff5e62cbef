import type { Disk } from "@millrace/platform";
import { syncUpwards } from "../data-directory/durable-directory.ts";
import { asCodedError, fenced } from "../partition/fence.ts";
import type { Recovery } from "./recover-partition.ts";
import type { RecoverySource } from "./recovery-source.ts";
import { writeAgain } from "./write-again.ts";

/**
 * Puts on the disk what the recovery of a persisted topic read back, before anybody sees it: the process
 * before may have died, or its datasync failed, between a write and what it promises. Damaged bytes are
 * written as they are. The partition is fenced when the disk refuses.
 */
export async function makeSure({ options, state }: RecoverySource, { inDoubt }: Recovery): Promise<void> {
  const { disk } = options;
  try {
    for (const { segment, from, to } of inDoubt) {
      const log = { from: from.logLength, end: to.logLength };
      await writeFileAgain(disk, state.filePath(segment, "log"), log);
      const ops = { from: from.opsLength, end: to.opsLength };
      await writeFileAgain(disk, state.filePath(segment, "ops"), ops);
      await syncUpwards(disk, state.path);
    }
  } catch (error) {
    state.fault = fenced(asCodedError(error));
    state.log.error("What was read back could not be made sure of.", { path: state.path, error });
  }
}

/** A file that is gone is damage which recovery has told. */
async function writeFileAgain(
  disk: Disk,
  path: string,
  range: { readonly from: number; readonly end: number },
): Promise<void> {
  if ((await disk.stat(path)) === undefined) return;
  const file = await disk.openFile(path, "read-write");
  try {
    await writeAgain(file, range);
  } finally {
    await file.close();
  }
}
