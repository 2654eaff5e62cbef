import type { DiskLock } from "@millrace/platform";
import { checkDataFormat, lockDataDirectory, writeDataFormat } from "@millrace/storage";
import type { BrokerOptions } from "../broker.ts";

/** Replica id of a server that stands alone. */
const NODE_ID = 0;

/**
 * Takes the data directory for this process and sees that its files are ours and not newer than we are.
 *
 * @throws CodedError DataDirectoryInUse, FormatTooNew, ForeignDataDirectory; nothing in it is touched then
 */
export async function openDataDirectory({ platform }: BrokerOptions): Promise<DiskLock> {
  // Looked at first, so that not even a lock file is left in a directory that is not ours.
  await checkDataFormat(platform.disk, NODE_ID);
  const lock = await lockDataDirectory(platform.disk);
  try {
    const format = await checkDataFormat(platform.disk, NODE_ID);
    if (format === undefined) await writeDataFormat(platform.disk, NODE_ID);
    return lock;
  } catch (error) {
    await lock.release();
    throw error;
  }
}
