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
export async function makeSure({ options, state }: RecoverySource, recovery: Recovery): Promise<void> {
  const { inDoubt, lacksLog } = recovery;
  if (inDoubt === undefined) return;
  const { segment, from } = inDoubt;
  try {
    const log = { from: from.logLength, end: segment.logLength };
    if (!lacksLog) await writeFileAgain(options.disk, state.filePath(segment, "log"), log);
    const ops = { from: from.opsLength, end: segment.opsLength };
    await writeFileAgain(options.disk, state.filePath(segment, "ops"), ops);
    await syncUpwards(options.disk, state.path);
  } catch (error) {
    state.fault = fenced(asCodedError(error));
    state.log.error("What was read back could not be made sure of.", { path: state.path, error });
  }
}

async function writeFileAgain(
  disk: RecoverySource["options"]["disk"],
  path: string,
  range: { readonly from: number; readonly end: number },
): Promise<void> {
  const file = await disk.openFile(path, "read-write");
  try {
    await writeAgain(file, range);
  } finally {
    await file.close();
  }
}
