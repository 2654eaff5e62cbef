import type { Disk, DiskFile } from "@millrace/platform";

/** The log file that is being written. */
export const LOG_FILE = "millrace-server.log";

/** Most bytes of the newest lines that a snapshot shows. */
const TAIL_LENGTH_MAX = 4 * 1024 * 1024;

/** A full log file, named after the moment it was put aside. */
export interface OldLogFile {
  readonly name: string;
  readonly length: number;
  /** Micros since the epoch. */
  readonly closedMicros: number;
}

const OLD_NAME = /^millrace-server\.(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3})(\d{3})Z\.log$/;

/** Name of a log file that is put aside at a time: UTC to the microsecond, so that names sort by age. */
export function oldLogName(wallMicros: number): string {
  const stamp = new Date(Math.floor(wallMicros / 1000)).toISOString().replaceAll(":", "-").slice(0, -1);
  return `millrace-server.${stamp}${String(Math.floor(wallMicros) % 1000).padStart(3, "0")}Z.log`;
}

/** The log files that were put aside, the oldest first. Other files of the folder are not ours. */
export async function oldLogFiles(disk: Disk): Promise<readonly OldLogFile[]> {
  const files: OldLogFile[] = [];
  for (const { name, kind } of await disk.readDirectory("")) {
    const [, hour, minute, second, micros] = OLD_NAME.exec(name) ?? [];
    if (kind !== "file" || hour === undefined) continue;
    const closedMicros = Date.parse(`${hour}:${minute}:${second}Z`) * 1000 + Number(micros);
    files.push({ name, closedMicros, length: (await disk.stat(name))?.length ?? 0 });
  }
  return files;
}

/** The newest lines of all log files, at most 4 MiB, beginning with a whole line. */
export async function readLogTail(disk: Disk, lengthMax = TAIL_LENGTH_MAX): Promise<string> {
  const names = [...(await oldLogFiles(disk)).map(({ name }) => name), LOG_FILE];
  const parts: Uint8Array[] = [];
  let room = lengthMax;
  for (const name of names.reverse()) {
    if (room <= 0) break;
    const part = await readEnd(disk, name, room);
    room -= part.length;
    parts.unshift(part);
  }
  const text = new TextDecoder().decode(Buffer.concat(parts));
  return room > 0 ? text : text.slice(text.indexOf("\n") + 1);
}

async function readEnd(disk: Disk, name: string, lengthMax: number): Promise<Uint8Array> {
  if ((await disk.stat(name)) === undefined) return new Uint8Array(0);
  const file = await disk.openFile(name, "read");
  try {
    const length = await file.length();
    const bytes = new Uint8Array(Math.min(length, lengthMax));
    return bytes.subarray(0, await read(file, bytes, length - bytes.length));
  } finally {
    await file.close();
  }
}

function read(file: DiskFile, target: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    file.read(target, position, (error, length) => (error === undefined ? resolve(length) : reject(error)));
  });
}
