import { parentPort, workerData } from "node:worker_threads";
import { servePartitions } from "@millrace/broker";
import { assert } from "@millrace/errors";
import { BlockPool, createChecksumKernel } from "@millrace/framing";
import { createNodeCipher, createNodePlatform, NodeShardBus } from "@millrace/platform/node";
import { createPinoLog } from "../log/pino-log.ts";
import type { ShardWorkerData } from "./worker-data.ts";

/**
 * The thread of a shard that owns partitions: serves shard 0 until the main thread ends it, which it does
 * once
 * the partitions are closed. Its log goes there too, line by line. Whatever it does not expect ends the
 * thread, and with it the server.
 */
function runShard(data: ShardWorkerData): void {
  const { shard, shardsCount, memory, part, way, config, dataPath, logLevel, key } = data;
  assert(parentPort !== null, "a shard runs in a thread of its own");
  const lines = parentPort;
  const sink = { write: (line: string) => lines.postMessage(line) };
  const log = createPinoLog({ level: logLevel, sink }).child({ shard });
  const kernel = createChecksumKernel({ shared: { memory, kernel: shard, kernelsCount: shardsCount } });
  const platform = createNodePlatform({ dataPath, log, threadsCount: shardsCount });
  const pool = new BlockPool(kernel.memory, part);
  const cipher = key && createNodeCipher(key, platform.random);
  const bus = new NodeShardBus(shard, shardsCount, new Map([[0, way]]));
  servePartitions({ platform, kernel, pool, config, cipher }, bus);
  bus.start();
}

runShard(workerData as ShardWorkerData);
