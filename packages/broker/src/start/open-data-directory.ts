import type { DiskLock } from "@millrace/platform";
import {
  checkDataFormat,
  checkEncryption,
  lockDataDirectory,
  makeKeyCheck,
  writeDataFormat,
} from "@millrace/storage";
import type { BrokerOptions } from "../broker-options.ts";
import { checkIdentity, STANDING_ALONE } from "./node-identity.ts";

/**
 * Takes the data directory for this process and sees that its files are ours, of this node, not newer than we
 * are, and encrypted with our key or not at all.
 *
 * @throws CodedError DataDirectoryInUse, FormatTooNew, ForeignDataDirectory, InvalidEncryptionKey,
 *         MetadataDamaged; nothing in it is touched then
 */
export async function openDataDirectory(options: BrokerOptions): Promise<DiskLock> {
  const { platform, cipher, kernel, identity = STANDING_ALONE } = options;
  const { disk, log } = platform;
  // Looked at first, so that not even a lock file is left in a directory that is not ours.
  await checkDataFormat(disk, identity.replica);
  const lock = await lockDataDirectory(disk);
  try {
    const format = await checkDataFormat(disk, identity.replica);
    if (format !== undefined) {
      checkEncryption(disk, format, cipher);
      await checkIdentity({ disk, log, kernel }, identity);
    } else await writeDataFormat(disk, identity.replica, cipher && makeKeyCheck(cipher));
    return lock;
  } catch (error) {
    await lock.release();
    throw error;
  }
}
