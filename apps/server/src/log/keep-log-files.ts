import type { Disk, Platform } from "@millrace/platform";
import type { Config } from "../config/schema.ts";
import { openLogFiles } from "./log-folder.ts";
import type { LogSinks } from "./log-sinks.ts";

/** Troubles told on standard error; a full disk loses thousands of lines and needs to be said once. */
const TOLD_EVERY_MS = 60_000;

/**
 * Adds the log files to the log's sinks, with what was said so far; to be called once the data is taken.
 *
 * @returns the folder of the files, or undefined when none are written
 * @throws CodedError IoError when the folder cannot be written
 */
export async function keepLogFiles(
  logging: Config["logging"],
  parts: { readonly dataPath: string; readonly platform: Platform; readonly sinks: LogSinks },
): Promise<Disk | undefined> {
  const { clock, metrics } = parts.platform;
  const dropped = metrics.counter(
    "log_troubles_total",
    "Log lines lost, and failures to put log files aside",
  );
  let toldMs = Number.NEGATIVE_INFINITY;
  const onTrouble = (error: Error) => {
    dropped.add(1);
    if (clock.monotonicMs() - toldMs < TOLD_EVERY_MS) return;
    toldMs = clock.monotonicMs();
    process.stderr.write(`millrace-server: the log files miss lines: ${error.message}\n`);
  };
  const files = await openLogFiles(logging, { dataPath: parts.dataPath, clock, onTrouble });
  if (files !== undefined) parts.sinks.add(files);
  parts.sinks.settle();
  return files?.disk;
}
