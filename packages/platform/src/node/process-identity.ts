import { readFileSync } from "node:fs";

/**
 * Who holds a lock. Pid alone is not enough: numbers are given again, and after a restart all of them are.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start of the process in ticks since boot as `/proc` tells it; empty where there is no `/proc`. */
  readonly startTicks: string;
  /** Names one run of the machine; empty where the system does not tell. */
  readonly bootId: string;
}

/** States of a process that has ended but still has an entry: zombie and dead. */
const ENDED_STATES: ReadonlySet<string> = new Set(["Z", "X", "x"]);

/** Fields of `/proc/{pid}/stat` counted after the name in parentheses: state first, start time 19 later. */
const START_TICKS_FIELD = 19;

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startTicks: procStat(process.pid)?.startTicks ?? "", bootId: readBootId() };
}

/**
 * True while the very process that `holder` names runs. In doubt true: a lock is never taken from a live one.
 */
export function isAlive(holder: ProcessIdentity): boolean {
  const bootId = readBootId();
  if (holder.bootId !== "" && bootId !== "" && holder.bootId !== bootId) return false;
  if (!pidExists(holder.pid)) return false;
  const stat = procStat(holder.pid);
  if (stat === undefined) return true;
  if (ENDED_STATES.has(stat.state)) return false;
  return holder.startTicks === "" || stat.startTicks === holder.startTicks;
}

function pidExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function procStat(pid: number): { state: string; startTicks: string } | undefined {
  const text = readText(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const startTicks = fields[START_TICKS_FIELD];
  return startTicks === undefined ? undefined : { state: fields[0] ?? "", startTicks };
}

/** Names one run of the machine; empty where the system does not tell. */
export function readBootId(): string {
  return readText("/proc/sys/kernel/random/boot_id").trim();
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
