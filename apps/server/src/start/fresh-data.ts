import type { Disk } from "@millrace/platform";
import { checkDataFormat, lockDataDirectory, writeDataFormat } from "@millrace/storage";

/** Folders of a server below its data path, beside those that the configuration names. */
const OWN_FOLDERS = ["streams", "metadata"] as const;

/**
 * Deletes the data of an earlier run, for `--fresh`. Files that are not ours stay, and the folder stays ours.
 *
 * @param replica     whose data it has to be
 * @param configured  other folders of ours, relative to the disk: the runtime folder, the log folder
 * @throws CodedError DataDirectoryInUse, ForeignDataDirectory, FormatTooNew: then nothing was deleted
 */
export async function deleteData(
  disk: Disk,
  { replica, configured }: { readonly replica: number; readonly configured: readonly string[] },
): Promise<void> {
  await checkDataFormat(disk, replica);
  const lock = await lockDataDirectory(disk);
  try {
    await checkDataFormat(disk, replica);
    for (const folder of [...OWN_FOLDERS, ...configured]) await disk.removeDirectory(folder);
    await writeDataFormat(disk, replica);
  } finally {
    await lock.release();
  }
}
