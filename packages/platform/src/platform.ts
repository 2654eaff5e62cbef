import type { Clock, Random } from "./clock.ts";
import type { Disk } from "./disk.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Tracer } from "./tracer.ts";

/**
 * Facts about the host for GetStats; memory in bytes, cpu in percent of one core, run time kept by the
 * broker.
 */
export interface HostFacts {
  readonly processId: number;
  readonly hostname: string;
  readonly osName: string;
  readonly osVersion: string;
  readonly kernelVersion: string;
  readonly threadsCount: number;
}

/** Load of the host now; container limits are honoured. */
export interface HostLoad {
  readonly cpuUsage: number;
  readonly totalCpuUsage: number;
  readonly memoryUsage: number;
  readonly totalMemory: number;
  readonly availableMemory: number;
}

/** One process of the host, by its name: never its arguments or its environment, which may hold secrets. */
export interface ProcessFacts {
  readonly processId: number;
  readonly parentId: number;
  readonly name: string;
  /** The letter the system gives: R runs, S sleeps, D waits for a disk, Z is dead. */
  readonly state: string;
  readonly threadsCount: number;
}

/** The host a server runs on. */
export interface Host {
  readonly facts: HostFacts;
  /**
   * Names one run of the machine, from its start to its end: what was written in another one and not synced
   * may be lost. Empty where nobody can tell.
   */
  readonly bootId: string;
  load(): HostLoad;
  /** The processes of the host, by number; a bounded list. */
  processes(): Promise<readonly ProcessFacts[]>;
}

/**
 * Passwords as stored text; never a clear password in the result. Slow on purpose, so asynchronous, and few
 * at once: each takes a thread and megabytes, and strangers ask for them. The rest wait in order.
 */
export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * False also for a stored text that does not parse. Takes as long for a wrong password as for a right one.
   */
  verify(password: string, stored: string): Promise<boolean>;
}

/** Everything a replica may ask for; nothing in or above `storage` reaches around it. */
export interface Platform {
  readonly clock: Clock;
  readonly random: Random;
  readonly disk: Disk;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly host: Host;
  readonly passwords: Passwords;
  /** Where requests are followed one by one; absent unless somebody looks, for it costs time per request. */
  readonly tracer?: Tracer | undefined;
}
