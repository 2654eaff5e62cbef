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
  const files: Partial<Record<"ops" | "log", DiskFile>> = {};
  try {
    for (const kind of ["ops", "log"] as const) {
      const file = await disk.openFile(`${path}/${segmentFileName(name, kind)}`, "create-or-open");
      files[kind] = file;
      if ((await file.length()) > 0) await file.truncate(0);
      if (kind === "log" && reservedLength > 0) await file.preallocate(reservedLength);
    }
  } catch (error) {
    await dropSegmentFiles(disk, path, name, files);
    throw error;
  }
  return files as SegmentFiles;
}

/**
 * Closes and removes the files of a segment that could not begin: on a full disk even their few bytes are
 * missed. What cannot be removed is emptied by the next attempt.
 */
export async function dropSegmentFiles(
  disk: Disk,
  path: string,
  name: SegmentName,
  files: Partial<SegmentFiles>,
): Promise<void> {
  for (const kind of ["log", "ops"] as const) {
    await files[kind]?.close().catch(() => undefined);
    if (files[kind] !== undefined)
      await disk.removeFile(`${path}/${segmentFileName(name, kind)}`).catch(() => undefined);
  }
}

/**
 * Removes the files of segments. What holds messages is gone for good before the first `.ops` goes: an `.ops`
 * alone proves whose the files are, so a start after power loss in between finishes the work, and no `.log`
 * is left behind that would pass for messages once something else is damaged.
 */
export async function removeSegmentFiles(
  disk: Disk,
  path: string,
  names: readonly SegmentName[],
): Promise<void> {
  for (const name of names) {
    await disk.removeFile(`${path}/${segmentFileName(name, "index")}`);
    await disk.removeFile(`${path}/${segmentFileName(name, "log")}`);
  }
  await disk.syncDirectory(path);
  for (const name of names) await disk.removeFile(`${path}/${segmentFileName(name, "ops")}`);
}

/** Closes both files; an error while closing changes nothing about what was written. */
export async function closeSegmentFiles(files: SegmentFiles): Promise<void> {
  await Promise.all([files.log, files.ops].map((file) => file.close().catch(() => undefined)));
}
