import { readFileSync } from "node:fs";
import os from "node:os";
import type { Host, HostFacts, HostLoad } from "../platform.ts";
import { controlGroupLimits } from "./control-group.ts";
import { readBootId } from "./process-identity.ts";
import { listProcesses } from "./process-list.ts";

/** Shortest time over which processor load says something: the system's own clocks tick every 10 ms. */
const LOAD_WINDOW_MS = 250;

/**
 * The machine, or the container, this process runs in. Processor load is measured from one `load()` to the
 * next, over a quarter of a second or more: calls that follow each other closer show the same.
 */
export function createNodeHost(): Host {
  let before = sampleTimes();
  let processor: ReturnType<typeof processorLoad> | undefined;
  return {
    facts: hostFacts(),
    bootId: readBootId(),
    load() {
      const now = sampleTimes();
      if (processor === undefined || now.monotonicMs - before.monotonicMs >= LOAD_WINDOW_MS) {
        processor = processorLoad(before, now);
        before = now;
      }
      return { ...processor, ...memoryLoad() };
    },
    processes: () => listProcesses(),
  };
}

interface TimesSample {
  readonly monotonicMs: number;
  readonly processMicros: number;
  readonly hostBusyMs: number;
  readonly hostTotalMs: number;
}

function hostFacts(): HostFacts {
  const distribution = readDistribution();
  const quota = controlGroupLimits().processors ?? Number.POSITIVE_INFINITY;
  return {
    processId: process.pid,
    hostname: os.hostname(),
    osName: distribution.name ?? os.type(),
    osVersion: distribution.version ?? os.version(),
    kernelVersion: os.release(),
    threadsCount: Math.max(1, Math.min(os.availableParallelism(), Math.ceil(quota))),
  };
}

function sampleTimes(): TimesSample {
  const own = process.cpuUsage();
  let idleMs = 0;
  let totalMs = 0;
  for (const { times } of os.cpus()) {
    idleMs += times.idle;
    totalMs += times.idle + times.user + times.nice + times.sys + times.irq;
  }
  return {
    monotonicMs: performance.now(),
    processMicros: own.user + own.system,
    hostBusyMs: totalMs - idleMs,
    hostTotalMs: totalMs,
  };
}

/** Own load in percent of one core, the host's in percent of all its cores. */
function processorLoad(before: TimesSample, now: TimesSample): Pick<HostLoad, "cpuUsage" | "totalCpuUsage"> {
  const elapsedMs = Math.max(1, now.monotonicMs - before.monotonicMs);
  const hostMs = Math.max(1, now.hostTotalMs - before.hostTotalMs);
  return {
    cpuUsage: (now.processMicros - before.processMicros) / 10 / elapsedMs,
    totalCpuUsage: Math.min(100, (100 * (now.hostBusyMs - before.hostBusyMs)) / hostMs),
  };
}

function memoryLoad(): Omit<HostLoad, "cpuUsage" | "totalCpuUsage"> {
  const { memoryLimit = Number.POSITIVE_INFINITY, memoryUsed = 0 } = controlGroupLimits();
  return {
    memoryUsage: process.memoryUsage.rss(),
    totalMemory: Math.min(os.totalmem(), memoryLimit),
    availableMemory: Math.max(0, Math.min(os.freemem(), memoryLimit - memoryUsed)),
  };
}

/** Name and version of the Linux distribution; nothing elsewhere. */
function readDistribution(): { name?: string; version?: string } {
  try {
    const text = readFileSync("/etc/os-release", "utf8");
    const field = (key: string) => new RegExp(`^${key}="?([^"\n]+)"?$`, "m").exec(text)?.[1];
    const name = field("NAME");
    const version = field("VERSION_ID");
    return { ...(name === undefined ? {} : { name }), ...(version === undefined ? {} : { version }) };
  } catch {
    return {};
  }
}
