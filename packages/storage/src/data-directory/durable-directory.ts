import type { Disk } from "@millrace/platform";

/** Makes the directory and its parents, with names that survive power loss. */
export async function makeDurableDirectory(disk: Disk, path: string): Promise<void> {
  await disk.makeDirectory(path);
  await syncUpwards(disk, path);
}

/** Makes the names in `path` and in every directory above it survive power loss. */
export async function syncUpwards(disk: Disk, path: string): Promise<void> {
  for (let at = path; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
    await disk.syncDirectory(at);
  }
  await disk.syncDirectory("");
}
