import { type Log, silentLog } from "../log.ts";
import { type Metrics, silentMetrics } from "../metrics.ts";
import type { Host, Passwords, Platform } from "../platform.ts";
import type { Tracer } from "../tracer.ts";
import { SimClock } from "./sim-clock.ts";
import type { SimDiskOptions } from "./sim-device.ts";
import { SimDisk } from "./sim-disk.ts";
import { SimRandom } from "./sim-random.ts";

/** A platform whose clock, chance and disk a test holds in its hands. */
export interface SimPlatform extends Platform {
  readonly clock: SimClock;
  readonly random: SimRandom;
  readonly disk: SimDisk;
}

/** What a simulated platform may be given; the rest follows from the seed. */
export interface SimPlatformOptions {
  readonly seed: number;
  /** A clock or a disk that is there already: after `disk.crash()` the next platform gets what is left. */
  readonly clock?: SimClock;
  readonly disk?: SimDisk;
  /** Options of a new disk; ignored when `disk` is given. */
  readonly diskOptions?: SimDiskOptions;
  /**
   * Longest time a disk call takes, by chance, on the simulated clock. Absent: calls complete as microtasks.
   */
  readonly diskLatencyMaxMs?: number;
  readonly log?: Log;
  readonly metrics?: Metrics;
  readonly tracer?: Tracer | undefined;
}

/** A whole platform in memory: one seed, one history. Passwords are hashed fast and unsafely. */
export function createSimPlatform(options: SimPlatformOptions): SimPlatform {
  const clock = options.clock ?? new SimClock();
  const random = new SimRandom(options.seed);
  const seed = random.below(2 ** 32);
  const disk = options.disk ?? new SimDisk({ seed, ...scheduleOf(clock, options), ...options.diskOptions });
  const { log = silentLog, metrics = silentMetrics } = options;
  return {
    clock,
    random,
    disk,
    log,
    metrics,
    host: { ...simHost, bootId: disk.bootId },
    passwords: simPasswords,
    tracer: options.tracer,
  };
}

function scheduleOf(clock: SimClock, options: SimPlatformOptions): Pick<SimDiskOptions, "schedule"> {
  const latencyMaxMs = options.diskLatencyMaxMs;
  if (latencyMaxMs === undefined) return {};
  const latency = new SimRandom(options.seed ^ 0x5eed);
  return { schedule: (completion) => void clock.setTimer(latency.fraction() * latencyMaxMs, completion) };
}

const simHost: Omit<Host, "bootId"> = {
  facts: {
    processId: 1,
    hostname: "sim",
    osName: "sim",
    osVersion: "1",
    kernelVersion: "1",
    threadsCount: 1,
  },
  load: () => ({
    cpuUsage: 0,
    totalCpuUsage: 0,
    memoryUsage: 0,
    totalMemory: 2 ** 32,
    availableMemory: 2 ** 32,
  }),
  processes: () => Promise.resolve([{ processId: 1, parentId: 0, name: "sim", state: "R", threadsCount: 1 }]),
};

const simPasswords: Passwords = {
  hash: (password) => Promise.resolve(`$sim$${fnv1a(password)}`),
  verify: (password, stored) => Promise.resolve(stored === `$sim$${fnv1a(password)}`),
};

/** A 32-bit hash that is only there so that tests never store a clear password. */
function fnv1a(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
