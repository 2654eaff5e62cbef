import type { SimDisk } from "@millrace/platform/sim";

/** Files of a segment. */
const KINDS = ["log", "ops", "index"];
const SEGMENT_PATTERN = /\/\d{20}(\.g\d+)?\.(log|ops)$/;

/** The files of all partitions that hold messages. */
export async function messageFilesOf(disk: SimDisk): Promise<string[]> {
  return (await segmentFilesOf(disk)).filter((path) => path.endsWith(".log"));
}

async function segmentFilesOf(disk: SimDisk, path = "streams"): Promise<string[]> {
  const found: string[] = [];
  for (const { name, kind } of await disk.readDirectory(path)) {
    const inner = `${path}/${name}`;
    if (kind === "directory") found.push(...(await segmentFilesOf(disk, inner)));
    else if (SEGMENT_PATTERN.test(inner)) found.push(inner);
  }
  return found;
}

/**
 * Removes all files of the newest segment, begun with whichever of them, of the partition that one of these
 * files belongs to. Answers what it was called; nothing when the partition has none any more.
 */
export async function removeNewest(disk: SimDisk, picked: string): Promise<string | undefined> {
  const folder = picked.slice(0, picked.lastIndexOf("/") + 1);
  const files = (await segmentFilesOf(disk)).filter((path) => path.startsWith(folder));
  const newest = files.map(withoutKind).sort(byAge).at(-1);
  if (newest === undefined) return undefined;
  for (const kind of KINDS) await disk.removeFile(`${newest}.${kind}`);
  return newest;
}

function withoutKind(path: string): string {
  return path.slice(0, path.lastIndexOf("."));
}

/** Orders the segments of one partition as they were begun: by purges, then by offset. */
function byAge(one: string, other: string): number {
  const generationOf = (path: string) => Number(/\.g(\d+)$/.exec(path)?.[1] ?? 0);
  return generationOf(one) - generationOf(other) || (one < other ? -1 : 1);
}
