import type { Disk } from "@millrace/platform";

/** Makes all names of a disk durable: systems write them by themselves after seconds, contents later. */
export async function syncNames(disk: Disk, path = ""): Promise<void> {
  await disk.syncDirectory(path);
  for (const { name, kind } of await disk.readDirectory(path)) {
    if (kind === "directory") await syncNames(disk, path === "" ? name : `${path}/${name}`);
  }
}
