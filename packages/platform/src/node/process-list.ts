import fs from "node:fs/promises";
import type { ProcessFacts } from "../platform.ts";

/** Most processes listed: a machine with more shows its lowest numbers, which says enough of it. */
const PROCESSES_MAX = 4096;
/** Files of `/proc` read at once; each is a few microseconds of the kernel's time. */
const READS_AT_ONCE = 32;
/** Bytes of the line of one process that are looked at; real ones have some 350. */
const STAT_LENGTH_MAX = 4096;

/**
 * The processes of this machine or container, by number. Only names, as command lines may hold secrets.
 *
 * Read from `/proc`; where there is none, this process alone. One that ends meanwhile is left out.
 * @see proc_pid_stat(5)
 */
export async function listProcesses(root = "/proc"): Promise<readonly ProcessFacts[]> {
  const names = await fs.readdir(root).catch(() => [] as string[]);
  const ids = names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
    .slice(0, PROCESSES_MAX);
  if (ids.length === 0) return [ownFacts()];
  const found: ProcessFacts[] = [];
  for (let first = 0; first < ids.length; first += READS_AT_ONCE) {
    const group = ids.slice(first, first + READS_AT_ONCE);
    const facts = await Promise.all(group.map((id) => readProcess(`${root}/${id}/stat`)));
    found.push(...facts.filter((one) => one !== undefined));
  }
  return found;
}

/** The facts of a line of `/proc/ID/stat`; undefined when it is none. */
export function parseProcessStat(line: string): ProcessFacts | undefined {
  // The name stands in parentheses and may hold some itself: the last one closes it.
  const [, id, name, rest = ""] =
    /^(\d+) \((.*)\) (.*)$/s.exec(line.slice(0, STAT_LENGTH_MAX).trimEnd()) ?? [];
  const [state, parent, ...others] = rest.split(" ");
  const threads = Number(others[15]);
  if (id === undefined || name === undefined || state === undefined || !Number.isInteger(threads))
    return undefined;
  return { processId: Number(id), parentId: Number(parent), name, state, threadsCount: threads };
}

async function readProcess(path: string): Promise<ProcessFacts | undefined> {
  return parseProcessStat(await fs.readFile(path, "latin1").catch(() => ""));
}

function ownFacts(): ProcessFacts {
  const { pid, ppid, title } = process;
  return { processId: pid, parentId: ppid, name: title, state: "R", threadsCount: 1 };
}
