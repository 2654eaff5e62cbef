import { execFile } from "node:child_process";

/** A reservation is quick or not supported; longer than this and we go on without. */
const RESERVE_TIMEOUT_MS = 5000;

/**
 * Asks the file system for space without changing the file's length. Node has no such call, so this runs the
 * `fallocate` program where the system has it. A refusal of any kind is not an error: space is asked, not
 * needed.
 */
export function reserveSpace(absolutePath: string, length: number): Promise<void> {
  if (process.platform !== "linux" || length <= 0) return Promise.resolve();
  const options = ["--keep-size", "--length", String(length), "--", absolutePath];
  return new Promise((resolve) => {
    execFile("fallocate", options, { timeout: RESERVE_TIMEOUT_MS }, () => resolve());
  });
}
