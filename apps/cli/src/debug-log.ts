import { appendFileSync } from "node:fs";
import { inspect } from "node:util";

/** The file of `--debug`: what the command did and every error with its stack. */
export interface DebugLog {
  note(text: string): void;
  error(error: unknown): void;
}

const SILENT: DebugLog = { note: () => {}, error: () => {} };

/**
 * A log that appends to `file`, or one that does nothing without a file.
 *
 * Lines are written at once, so that the last one before a crash is there. Passwords never reach it.
 * @throws the system's error when the file cannot be written
 */
export function openDebugLog(file: string | undefined): DebugLog {
  if (file === undefined) return SILENT;
  const write = (text: string) => appendFileSync(file, `${new Date().toISOString()} ${text}\n`);
  return { note: write, error: (error) => write(inspect(error, { depth: 4 })) };
}
