import { readdirSync, readFileSync } from "node:fs";

/** Nanoseconds that all threads of a process have run on a core, from the kernel's scheduler figures. */
export function cpuNanosOf(pid: number): number {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      // The thread ended between the listing and the read; its time is lost, which only threads of the pool
      // never do.
    }
  }
  return sum;
}

/** Resident memory of a process in bytes. */
export function residentBytesOf(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) * 1024;
}

/** The most memory of a process that was ever resident at once, in bytes. */
export function highestResidentBytesOf(pid: number): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) * 1024;
}

/** The middle one of some figures. */
export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
