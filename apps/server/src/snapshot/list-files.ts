import type { Disk } from "@millrace/platform";

/** Most entries listed: some 1 MiB of text. A server with more partitions shows the first of them. */
const ENTRIES_MAX = 10_000;

/** Paths with their lengths, folders before what is in them; `isWhole` is false when there were more. */
export interface FileList {
  readonly lines: readonly string[];
  readonly isWhole: boolean;
}

/** Every file and folder of a disk, level by level. Links are named and not followed. */
export async function listFiles(disk: Disk, entriesMax = ENTRIES_MAX): Promise<FileList> {
  const lines: string[] = [];
  const folders = [""];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const { name, kind } of await disk.readDirectory(folder)) {
      if (lines.length === entriesMax) return { lines, isWhole: false };
      const path = folder === "" ? name : `${folder}/${name}`;
      if (kind === "directory") folders.push(path);
      lines.push(kind === "file" ? `${await lengthOf(disk, path)} ${path}` : `${kind} ${path}`);
    }
  }
  return { lines, isWhole: true };
}

/** What was deleted meanwhile has no length. */
async function lengthOf(disk: Disk, path: string): Promise<string> {
  return String((await disk.stat(path))?.length ?? "gone");
}
