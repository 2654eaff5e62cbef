import type { Disk, DiskFile } from "@millrace/platform";
import { type SegmentName, segmentFileName } from "./segment-name.ts";

const READ_MODES = ["read", "read"] as const;
const WRITE_MODES = ["create-or-open", "read-write"] as const;

/** The two open files of a segment. */
export interface SegmentFiles {
  readonly log: DiskFile;
  readonly ops: DiskFile;
}

/** Opens both files of a segment that exists. For writing it makes the `.log` when it is absent. */
export async function openSegmentFiles(
  disk: Disk,
  path: string,
  name: SegmentName,
  use: "read" | "write" = "write",
): Promise<SegmentFiles> {
  const [logMode, opsMode] = use === "read" ? READ_MODES : WRITE_MODES;
  const log = await disk.openFile(`${path}/${segmentFileName(name, "log")}`, logMode);
  try {
    return { log, ops: await disk.openFile(`${path}/${segmentFileName(name, "ops")}`, opsMode) };
  } catch (error) {
    await log.close();
    throw error;
  }
}

/**
 * Makes both files of a new segment, empty. Files of that name which an attempt before left behind are
 * emptied: the caller knows that they hold nothing good.
 *
 * @param reservedLength  bytes of space to ask for the `.log`; the disk may refuse without harm
 */
export async function createSegmentFiles(
  disk: Disk,
  path: string,
  name: SegmentName,
  reservedLength: number,
): Promise<SegmentFiles> {
  const files: DiskFile[] = [];
  try {
    for (const kind of ["ops", "log"] as const) {
      const file = await disk.openFile(`${path}/${segmentFileName(name, kind)}`, "create-or-open");
      files.push(file);
      if ((await file.length()) > 0) await file.truncate(0);
      if (kind === "log" && reservedLength > 0) await file.preallocate(reservedLength);
    }
  } catch (error) {
    await Promise.all(files.map((file) => file.close().catch(() => undefined)));
    throw error;
  }
  const [ops, log] = files as [DiskFile, DiskFile];
  return { log, ops };
}

/**
 * Removes a segment's files. The `.ops` goes last: it alone proves whose the files are, so that a start after
 * a crash in between can finish the work.
 */
export async function removeSegmentFiles(disk: Disk, path: string, name: SegmentName): Promise<void> {
  for (const kind of ["index", "log", "ops"] as const) {
    await disk.removeFile(`${path}/${segmentFileName(name, kind)}`);
  }
}

/** Closes both files; an error while closing changes nothing about what was written. */
export async function closeSegmentFiles(files: SegmentFiles): Promise<void> {
  await Promise.all([files.log, files.ops].map((file) => file.close().catch(() => undefined)));
}
