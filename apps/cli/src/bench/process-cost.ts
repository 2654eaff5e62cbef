import { readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Stats } from "@millrace/client";

/** What a process used while the load ran. */
export interface ProcessCost {
  readonly cpuSeconds: number;
  /** Of one core. */
  readonly cpuPercent: number;
}

/** The server's, with its memory in bytes. */
export interface ServerCost extends ProcessCost {
  readonly processId: number;
  readonly residentAtEnd: number;
  readonly residentHighest: number;
}

/** How often memory is looked at. */
const SAMPLE_MS = 250;

/** What both ends used. */
export interface Costs {
  readonly client: ProcessCost;
  /** Undefined for a server that cannot be seen from here. */
  readonly server: ServerCost | undefined;
}

/**
 * Runs some work and says what this process and, when it can be seen from here, the server used meanwhile.
 *
 * @param stats  what the server says: its process is looked at when it runs on a host of this one's name and
 *               `/proc` shows it. Elsewhere the cost of the server stays unknown.
 */
export async function watchCosts(
  stats: Pick<Stats, "processId" | "hostname">,
  nowMs: () => number,
  work: () => Promise<void>,
): Promise<Costs> {
  const startMs = nowMs();
  const before = process.cpuUsage();
  const server = openServer(stats);
  let residentHighest = 0;
  const look = () => {
    residentHighest = Math.max(residentHighest, server?.resident() ?? 0);
  };
  const timer = setInterval(look, SAMPLE_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  look();
  const seconds = Math.max(0.001, (nowMs() - startMs) / 1_000);
  const costOf = (cpuSeconds: number) => ({ cpuSeconds, cpuPercent: (cpuSeconds / seconds) * 100 });
  const { user, system } = process.cpuUsage(before);
  const client = costOf((user + system) / 1e6);
  const [used, resident] = [server?.cpuSeconds(), server?.resident()];
  if (used === undefined || resident === undefined) return { client, server: undefined };
  const memory = { residentAtEnd: resident, residentHighest };
  return { client, server: { processId: stats.processId, ...costOf(used), ...memory } };
}

interface ServerProcess {
  /** CPU of all its threads since it was opened; undefined when it has ended. */
  cpuSeconds(): number | undefined;
  resident(): number | undefined;
}

function openServer(stats: Pick<Stats, "processId" | "hostname">): ServerProcess | undefined {
  const { processId } = stats;
  if (stats.hostname !== hostname()) return undefined;
  const before = cpuNanosOf(processId);
  if (before === undefined) return undefined;
  return {
    cpuSeconds: () => {
      const now = cpuNanosOf(processId);
      return now === undefined ? undefined : Math.max(0, now - before) / 1e9;
    },
    resident: () => residentOf(processId),
  };
}

/** Nanoseconds that the threads of a process have run; undefined where `/proc` does not show it. */
function cpuNanosOf(processId: number): number | undefined {
  const threads = attempt(() => readdirSync(`/proc/${processId}/task`));
  return threads?.reduce((sum, thread) => {
    // A thread may end between the listing and the reading.
    const text = attempt(() => readFileSync(`/proc/${processId}/task/${thread}/schedstat`, "utf8"));
    return sum + Number(text?.split(" ")[0] ?? 0);
  }, 0);
}

function residentOf(processId: number): number | undefined {
  const status = attempt(() => readFileSync(`/proc/${processId}/status`, "utf8"));
  const kibibytes = /VmRSS:\s+(\d+) kB/.exec(status ?? "")?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
