import type { DiskLock } from "@millrace/platform";
import { checkDataFormat, lockDataDirectory, writeDataFormat } from "@millrace/storage";
import type { BrokerOptions } from "../broker.ts";

/**
 * Takes the data directory for this process and sees that its files are ours and not newer than we are.
 *
 * @throws CodedError DataDirectoryInUse, FormatTooNew, ForeignDataDirectory; nothing in it is touched then
 */
export async function openDataDirectory({ platform, version }: BrokerOptions): Promise<DiskLock> {
  const lock = await lockDataDirectory(platform.disk, "");
  try {
    await checkDataFormat(platform.disk);
    await writeDataFormat(platform.disk, { version });
    return lock;
  } catch (error) {
    await lock.release();
    throw error;
  }
}
