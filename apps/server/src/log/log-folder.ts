import { isAbsolute, relative, resolve, sep } from "node:path";
import type { Clock } from "@millrace/platform";
import { NodeDisk } from "@millrace/platform/node";
import { invalid } from "../config/invalid-setting.ts";
import type { Config } from "../config/schema.ts";
import { RotatingFiles } from "./rotating-files.ts";

/** The folder of the log files: absolute, or relative to the data. */
function logFolder(logging: Config["logging"], dataPath: string): string {
  return resolve(dataPath, logging.path);
}

/** The log folder as a path below the data; undefined when it is somewhere else or the data folder itself. */
export function logFolderInData(logging: Config["logging"], dataPath: string): string | undefined {
  const path = relative(dataPath, logFolder(logging, dataPath));
  return path === "" || path.startsWith("..") || isAbsolute(path) ? undefined : path.replaceAll(sep, "/");
}

/**
 * Opens the log files as the configuration says; undefined when they are off.
 *
 * @throws CodedError InvalidConfiguration that names the folder when it cannot be made or written
 */
export async function openLogFiles(
  logging: Config["logging"],
  parts: { readonly dataPath: string; readonly clock: Clock; readonly onTrouble: (error: Error) => void },
): Promise<RotatingFiles | undefined> {
  if (!logging.file_enabled) return undefined;
  const disk = new NodeDisk(logFolder(logging, parts.dataPath));
  return RotatingFiles.open({
    disk,
    clock: parts.clock,
    onTrouble: parts.onTrouble,
    limits: {
      fileLengthMax: logging.max_file_size,
      totalLengthMax: logging.max_total_size,
      retentionMs: logging.retention,
      checkEveryMs: logging.rotation_check_interval,
    },
  }).catch((cause: Error) => {
    throw invalid("logging.path", `names ${disk.root}, where no log can be written: ${cause.message}`);
  });
}
