import fs from "node:fs";
import { resolve } from "node:path";
import { type Log, silentLog } from "../log.ts";
import { type Metrics, silentMetrics } from "../metrics.ts";
import type { Platform } from "../platform.ts";
import type { Tracer } from "../tracer.ts";
import { createNodeClock } from "./node-clock.ts";
import { NodeDisk } from "./node-disk.ts";
import { createNodeHost } from "./node-host.ts";
import { createNodePasswords } from "./node-passwords.ts";
import { nodeRandom } from "./node-random.ts";
import { openFilesMax } from "./open-files-max.ts";
import { quickReads } from "./quick-reads.ts";
import { type QuickCalls, quickWrites } from "./quick-writes.ts";

/**
 * The real surroundings of a process whose disk begins at `dataPath`. Opens and creates nothing.
 * @param options.threadsCount  threads of the process that have such a disk each; default 1
 */
export function createNodePlatform(options: {
  dataPath: string;
  threadsCount?: number;
  log?: Log;
  metrics?: Metrics;
  tracer?: Tracer | undefined;
}): Platform {
  const { dataPath, threadsCount = 1 } = options;
  const host = createNodeHost();
  const hasCoreLeft = host.facts.threadsCount > threadsCount;
  return {
    clock: createNodeClock(),
    random: nodeRandom,
    disk: openDisk(resolve(dataPath), hasCoreLeft, openFilesMax(threadsCount)),
    log: options.log ?? silentLog,
    metrics: options.metrics ?? silentMetrics,
    host,
    passwords: createNodePasswords(),
    tracer: options.tracer,
  };
}

/**
 * Where threads like this one use every core, the pool's would only take turns with them.
 * @see docs/adr/0060
 */
function openDisk(root: string, hasCoreLeft: boolean, handlesMax: number): NodeDisk {
  const calls = fs as QuickCalls;
  if (hasCoreLeft) return new NodeDisk(root, quickWrites(calls), handlesMax);
  const writes = quickWrites(calls, { coresTaken: true });
  const both = quickReads({ ...writes, readSync: calls.readSync });
  return new NodeDisk(root, both, handlesMax, (callback) => void setImmediate(callback));
}
