import type { Disk, Platform } from "@millrace/platform";
import type { SnapshotType } from "@millrace/protocol";
import { readLogTail } from "../log/log-files.ts";
import { VERSION } from "../version.ts";
import { listFiles } from "./list-files.ts";

/** Where the parts of a snapshot get their facts from. */
export interface SnapshotSources {
  readonly platform: Platform;
  /** Every metric, as text. */
  readonly metricsText: () => Promise<string>;
  /** The configuration in effect, without secrets. */
  readonly configText: () => string;
  /** The folder of log files; absent when none are written. */
  readonly logDisk: Disk | undefined;
}

/** One part of a snapshot: the file it becomes, and who makes its text. */
export interface SnapshotPart {
  readonly file: string;
  readonly collect: (sources: SnapshotSources) => Promise<string>;
}

/** The parts there are. None of them may show a secret: no command lines, no environment, no messages. */
export const SNAPSHOT_PARTS: Readonly<Record<Exclude<SnapshotType, "all">, SnapshotPart>> = {
  filesystemOverview: { file: "filesystem_overview.txt", collect: filesystemOverview },
  processList: { file: "process_list.txt", collect: processList },
  resourceUsage: { file: "resource_usage.txt", collect: resourceUsage },
  test: { file: "test.txt", collect: async () => `Millrace ${VERSION} takes snapshots.\n` },
  serverLogs: { file: "server_logs.txt", collect: serverLogs },
  serverConfig: { file: "server_config.toml", collect: async ({ configText }) => configText() },
};

async function filesystemOverview({ platform: { disk } }: SnapshotSources): Promise<string> {
  const { freeLength, totalLength } = await disk.space();
  const { lines, isWhole } = await listFiles(disk);
  const head = [`data ${disk.root}`, `free ${freeLength} of ${totalLength} bytes`, ""];
  const tail = isWhole ? [] : ["... and more"];
  return text([...head, ...lines, ...tail]);
}

async function processList({ platform: { host } }: SnapshotSources): Promise<string> {
  const processes = await host.processes();
  const rows = processes.map(({ processId, parentId, state, threadsCount, name }) =>
    [
      String(processId).padStart(8),
      String(parentId).padStart(8),
      state,
      String(threadsCount).padStart(7),
      name,
    ].join(" "),
  );
  return text([`${"id".padStart(8)} ${"parent".padStart(8)} S threads name`, ...rows]);
}

async function resourceUsage({ platform, metricsText }: SnapshotSources): Promise<string> {
  const { host, clock } = platform;
  const facts = { wallMicros: clock.wallMicros(), ...host.facts, ...host.load(), ...process.memoryUsage() };
  return text([...Object.entries(facts).map(([name, value]) => `${name} ${value}`), "", await metricsText()]);
}

function serverLogs({ logDisk }: SnapshotSources): Promise<string> {
  if (logDisk !== undefined) return readLogTail(logDisk);
  return Promise.resolve("No log files are written: logging.file_enabled is false.\n");
}

function text(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}
