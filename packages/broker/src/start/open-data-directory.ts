import type { DiskLock } from "@millrace/platform";
import {
  checkDataFormat,
  checkEncryption,
  lockDataDirectory,
  makeKeyCheck,
  writeDataFormat,
} from "@millrace/storage";
import type { BrokerOptions } from "../broker.ts";

/** Replica id of a server that stands alone. */
const NODE_ID = 0;

/**
 * Takes the data directory for this process and sees that its files are ours, not newer than we are, and
 * encrypted with our key or not at all.
 *
 * @throws CodedError DataDirectoryInUse, FormatTooNew, ForeignDataDirectory, InvalidEncryptionKey; nothing in
 *         it is touched then
 */
export async function openDataDirectory({ platform, cipher }: BrokerOptions): Promise<DiskLock> {
  // Looked at first, so that not even a lock file is left in a directory that is not ours.
  await checkDataFormat(platform.disk, NODE_ID);
  const lock = await lockDataDirectory(platform.disk);
  try {
    const format = await checkDataFormat(platform.disk, NODE_ID);
    if (format !== undefined) checkEncryption(platform.disk, format, cipher);
    else await writeDataFormat(platform.disk, NODE_ID, cipher && makeKeyCheck(cipher));
    return lock;
  } catch (error) {
    await lock.release();
    throw error;
  }
}
