import type { Disk, Platform } from "@millrace/platform";
import type { Config } from "../config/schema.ts";
import { openLogFiles } from "./log-folder.ts";
import type { LogSinks } from "./log-sinks.ts";
import { createTroubleTeller } from "./trouble-teller.ts";

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
  const counter = metrics.counter("log_file_troubles_total", "Log lines lost and log files not put aside");
  const onTrouble = createTroubleTeller({ clock, counter, what: "the log files miss lines" });
  const files = await openLogFiles(logging, { dataPath: parts.dataPath, clock, onTrouble });
  if (files !== undefined) parts.sinks.add(files);
  parts.sinks.settle();
  return files?.disk;
}
