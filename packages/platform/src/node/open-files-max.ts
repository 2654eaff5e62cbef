import { readFileSync } from "node:fs";

/** What the rest of a process's handles is for: connections, listeners, pipes, directories being listed. */
const FILES_PART = 0.5;
/** Handles of a process whose limit nobody tells, as outside of Linux. */
const UNKNOWN_LIMIT = 8192;
/** A disk makes do with so few, and not with fewer: several files are in use at once. */
const OPEN_FILES_MIN = 32;

/**
 * Most file handles that the disk of one thread keeps open: half of what the process may have, in equal
 * parts.
 *
 * @param threadsCount  threads of the process that have a disk each
 * @param limits        for tests: the text that lists the limits of the process, as Linux writes it
 */
export function openFilesMax(threadsCount: number, limits: () => string = readLimits): number {
  const limit = /^Max open files\s+(\d+)/m.exec(limits())?.[1];
  const ofThread = (Number(limit ?? UNKNOWN_LIMIT) * FILES_PART) / threadsCount;
  return Math.max(OPEN_FILES_MIN, Math.floor(ofThread));
}

function readLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}
