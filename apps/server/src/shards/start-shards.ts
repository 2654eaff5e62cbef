import { Worker } from "node:worker_threads";
import type { BrokerConfig } from "@millrace/broker";
import { BlockPool, type ChecksumKernel, createChecksumKernel, createSharedMemory } from "@millrace/framing";
import { createShardWay, NodeShardBus, type ShardWayEnd } from "@millrace/platform/node";
import type { LogSink } from "../log/log-sinks.ts";
import { splitMemory } from "./split-memory.ts";
import type { ShardWorkerData } from "./worker-data.ts";

/** The bundled entry of a shard's thread, beside the server's own. */
const SHARD_ENTRY = new URL("./shard.mjs", import.meta.url);

/** What shards are started with. */
export interface ShardsOptions {
  readonly shardsCount: number;
  /** Bytes of message memory for all of them. */
  readonly memoryLength: number;
  readonly config: BrokerConfig;
  /** Absolute. */
  readonly dataPath: string;
  readonly logLevel: string;
  /** Takes the lines of their logs. */
  readonly sink: LogSink;
  readonly key: Uint8Array | undefined;
  /** Called when a shard ends that nobody asked to: its partitions are lost to the process. */
  readonly onLost: (shard: number, reason: string) => void;
  /** Left out: the bundled entry. */
  readonly entry?: URL;
}

/** Shards that run, as shard 0 needs them. */
export interface RunningShards {
  readonly kernel: ChecksumKernel;
  /** Message memory of shard 0. */
  readonly pool: BlockPool;
  /** Nothing when there is one shard. */
  readonly bus: NodeShardBus | undefined;
  /** What each shard is configured with. */
  readonly config: BrokerConfig;
  /** Ends the threads, once their partitions are closed or nothing was opened. */
  end(): Promise<void>;
}

/**
 * Makes the message memory and starts a thread for every shard but the first. With one shard nothing is
 * shared and no thread is started.
 */
export function startShards(options: ShardsOptions): RunningShards {
  const { shardsCount, memoryLength } = options;
  if (shardsCount === 1) {
    const kernel = createChecksumKernel({ memoryLength });
    const pool = new BlockPool(kernel.memory);
    return { kernel, pool, bus: undefined, config: options.config, end: async () => {} };
  }
  const memory = createSharedMemory(memoryLength);
  const kernel = createChecksumKernel({ shared: { memory, kernel: 0, kernelsCount: shardsCount } });
  const { blocksStart, bytes } = kernel.memory;
  const parts = splitMemory({ blocksStart, end: bytes.length }, shardsCount);
  // All tails together keep what the configuration allows.
  const tailCacheLengthMax = Math.floor(options.config.tailCacheLengthMax / shardsCount);
  const config = { ...options.config, tailCacheLengthMax };
  const ways = new Map<number, ShardWayEnd>();
  const threads = parts.slice(1).map((part, index) => {
    const shard = index + 1;
    const { front, owner } = createShardWay();
    ways.set(shard, front);
    const { dataPath, logLevel, key } = options;
    return new ShardThread(options, {
      shard,
      shardsCount,
      memory,
      part,
      way: owner,
      config,
      dataPath,
      logLevel,
      key,
    });
  });
  const bus = new NodeShardBus(0, shardsCount, ways);
  bus.start();
  const end = async () => {
    await Promise.all(threads.map((thread) => thread.end()));
    bus.close();
  };
  return { kernel, pool: new BlockPool(kernel.memory, parts[0]), bus, config, end };
}

/** One shard's thread, watched: it may only end when it is asked to. */
class ShardThread {
  readonly #worker: Worker;
  #isEnding = false;

  constructor({ entry = SHARD_ENTRY, sink, onLost }: ShardsOptions, data: ShardWorkerData) {
    this.#worker = new Worker(entry, {
      name: `shard-${data.shard}`,
      workerData: data,
      transferList: [data.way.doorbell],
    });
    let reason = "its thread ended";
    this.#worker.on("message", (line: string) => sink.write(line));
    this.#worker.on("error", (error) => {
      reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    });
    this.#worker.on("exit", () => {
      if (!this.#isEnding) onLost(data.shard, reason);
    });
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#worker.terminate();
  }
}
