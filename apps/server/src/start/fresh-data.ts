import type { Disk } from "@millrace/platform";
import { checkDataFormat, FORMAT_FILE, lockDataDirectory } from "@millrace/storage";

/** Everything a server keeps below its data path. Nothing else is ever deleted there. */
const OWN_FOLDERS = ["streams", "metadata", "runtime"] as const;

/**
 * Deletes the data of an earlier run, for `--fresh`. Files that are not ours stay.
 *
 * @throws CodedError DataDirectoryInUse, ForeignDataDirectory, FormatTooNew: then nothing was deleted
 */
export async function deleteData(disk: Disk): Promise<void> {
  await checkDataFormat(disk);
  const lock = await lockDataDirectory(disk);
  try {
    await checkDataFormat(disk);
    for (const folder of OWN_FOLDERS) await disk.removeDirectory(folder);
    await disk.removeFile(FORMAT_FILE);
  } finally {
    await lock.release();
  }
}
