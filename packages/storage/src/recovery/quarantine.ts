import type { Disk, DiskFile } from "@millrace/platform";
import { makeDurableDirectory } from "../data-directory/durable-directory.ts";
import { readAt, writeAt } from "../segment/file-calls.ts";

/** Where cut bytes go, below the data directory. Nothing in it is ever deleted by us. */
export const QUARANTINE_PATH = "quarantine";
const COPY_LENGTH = 1_048_576;

/** Bytes to keep aside: from `from` to `end` of an open file. */
export interface CutRange {
  readonly file: DiskFile;
  readonly from: number;
  readonly end: number;
}

/**
 * Copies the end of a file into `quarantine/` before it is cut; answers the path of the copy, made to survive
 * power loss, or nothing when there is nothing to copy.
 *
 * The name tells the file and the position: slashes become dashes, then `.at-` and the position, and `.2`,
 * `.3` when the name is taken.
 */
export async function setAside(disk: Disk, range: CutRange): Promise<string | undefined> {
  if (range.end <= range.from) return undefined;
  await makeDurableDirectory(disk, QUARANTINE_PATH);
  const { target, path } = await createUnused(
    disk,
    `${QUARANTINE_PATH}/${range.file.path.replaceAll("/", "-")}.at-${range.from}`,
  );
  try {
    await copy(range, target);
    await new Promise<void>((resolve, reject) =>
      target.datasync((error) => (error ? reject(error) : resolve())),
    );
  } finally {
    await target.close();
  }
  await disk.syncDirectory(QUARANTINE_PATH);
  return path;
}

async function createUnused(
  disk: Disk,
  path: string,
): Promise<{ readonly target: DiskFile; readonly path: string }> {
  const taken = new Set((await disk.readDirectory(QUARANTINE_PATH)).map((entry) => entry.name));
  const name = path.slice(QUARANTINE_PATH.length + 1);
  let unused = name;
  for (let copy = 2; taken.has(unused); copy += 1) unused = `${name}.${copy}`;
  const unusedPath = `${QUARANTINE_PATH}/${unused}`;
  return { target: await disk.openFile(unusedPath, "create"), path: unusedPath };
}

async function copy(range: CutRange, target: DiskFile): Promise<void> {
  const buffer = new Uint8Array(Math.min(COPY_LENGTH, range.end - range.from));
  for (let at = range.from; at < range.end; ) {
    const piece = buffer.subarray(0, Math.min(buffer.length, range.end - at));
    const length = await readAt(range.file, piece, at);
    if (length === 0) return;
    await writeAt(target, piece.subarray(0, length), at - range.from);
    at += length;
  }
}
