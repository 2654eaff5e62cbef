import type { Disk } from "@millrace/platform";
import { checkDataFormat, lockDataDirectory, writeDataFormat } from "@millrace/storage";

/** Folders of a server below its data path, beside those that the configuration names. */
const OWN_FOLDERS = ["streams", "metadata"] as const;
/** Replica id of a server that stands alone. */
const NODE_ID = 0;

/**
 * Deletes the data of an earlier run, for `--fresh`. Files that are not ours stay, and the folder stays ours.
 *
 * @param configured  other folders of ours, relative to the disk: the runtime folder, the log folder
 * @throws CodedError DataDirectoryInUse, ForeignDataDirectory, FormatTooNew: then nothing was deleted
 */
export async function deleteData(disk: Disk, configured: readonly string[]): Promise<void> {
  await checkDataFormat(disk, NODE_ID);
  const lock = await lockDataDirectory(disk);
  try {
    await checkDataFormat(disk, NODE_ID);
    for (const folder of [...OWN_FOLDERS, ...configured]) await disk.removeDirectory(folder);
    await writeDataFormat(disk, NODE_ID);
  } finally {
    await lock.release();
  }
}
