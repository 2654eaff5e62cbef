import { readFileSync } from "node:fs";

/**
 * What the container allows. Absent fields: no limit, or no container. Bytes; processors may be a fraction.
 */
export interface ControlGroupLimits {
  readonly memoryLimit?: number;
  /** Bytes in use that cannot be given back: page cache that the kernel would drop is not counted. */
  readonly memoryUsed?: number;
  readonly processors?: number;
}

/** Reads one file of the control groups; absent or unreadable is the empty text. */
export type ReadText = (path: string) => string;

/** Version 1 says "no limit" with a number near 2^63; anything above this is no real limit. */
const NO_LIMIT_ABOVE = 2 ** 60;

/** The limits of the control group this process runs in, version 2 first, then version 1. */
export function controlGroupLimits(read: ReadText = readText): ControlGroupLimits {
  const groups = read("/proc/self/cgroup");
  const unified = /^0::(.*)$/m.exec(groups)?.[1];
  if (unified !== undefined && !/:memory:/.test(groups)) return unifiedLimits(read, unified);
  return /:memory:/.test(groups) ? legacyLimits(read) : {};
}

/** Version 2: the tightest limit from the own group up to the root counts. */
function unifiedLimits(read: ReadText, group: string): ControlGroupLimits {
  let tightest: ControlGroupLimits = {};
  for (const directory of groupAndParents(group)) {
    tightest = tighter(tightest, readUnified(read, `/sys/fs/cgroup${directory}`));
  }
  return tightest;
}

function readUnified(read: ReadText, directory: string): ControlGroupLimits {
  const [quota, period] = read(`${directory}/cpu.max`).trim().split(" ");
  return limitsOf({
    limit: read(`${directory}/memory.max`),
    used: read(`${directory}/memory.current`),
    droppable: /^inactive_file (\d+)$/m.exec(read(`${directory}/memory.stat`))?.[1] ?? "0",
    processors: Number(quota) / Number(period),
  });
}

/** Version 1: inside a container the own group is mounted as the root of each controller. */
function legacyLimits(read: ReadText): ControlGroupLimits {
  const memory = "/sys/fs/cgroup/memory";
  const cpu = "/sys/fs/cgroup/cpu";
  return limitsOf({
    limit: read(`${memory}/memory.limit_in_bytes`),
    used: read(`${memory}/memory.usage_in_bytes`),
    droppable: /^total_inactive_file (\d+)$/m.exec(read(`${memory}/memory.stat`))?.[1] ?? "0",
    processors: positive(read(`${cpu}/cpu.cfs_quota_us`)) / positive(read(`${cpu}/cpu.cfs_period_us`)),
  });
}

function limitsOf(found: { limit: string; used: string; droppable: string; processors: number }) {
  const memoryLimit = positive(found.limit);
  const memoryUsed = Math.max(0, positive(found.used) - Number(found.droppable));
  const limited = memoryLimit < NO_LIMIT_ABOVE;
  return {
    ...(limited && Number.isFinite(memoryUsed) ? { memoryLimit, memoryUsed } : {}),
    ...(Number.isFinite(found.processors) ? { processors: found.processors } : {}),
  };
}

function tighter(one: ControlGroupLimits, other: ControlGroupLimits): ControlGroupLimits {
  const memory = (other.memoryLimit ?? Infinity) < (one.memoryLimit ?? Infinity) ? other : one;
  const processors = Math.min(one.processors ?? Infinity, other.processors ?? Infinity);
  return {
    ...(memory.memoryLimit === undefined ? {} : { memoryLimit: memory.memoryLimit }),
    ...(memory.memoryUsed === undefined ? {} : { memoryUsed: memory.memoryUsed }),
    ...(Number.isFinite(processors) ? { processors } : {}),
  };
}

function groupAndParents(group: string): readonly string[] {
  const names = group.split("/").filter((name) => name !== "" && name !== "..");
  return [...names.keys(), names.length].map((count) =>
    names
      .slice(0, count)
      .map((name) => `/${name}`)
      .join(""),
  );
}

/** A positive number of a text; NaN for `max`, `-1`, an empty text and everything else. */
function positive(text: string): number {
  const value = Number.parseInt(text.trim(), 10);
  return value > 0 ? value : Number.NaN;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
