import type { BrokerConfig } from "@millrace/broker";
import type { SharedMemory } from "@millrace/framing";
import type { ShardWayEnd } from "@millrace/platform/node";
import type { MemoryPart } from "./split-memory.ts";

/** What a shard's thread is started with. */
export interface ShardWorkerData {
  readonly shard: number;
  readonly shardsCount: number;
  /** The memory that all shards share, and the part of it that is this one's. */
  readonly memory: SharedMemory;
  readonly part: MemoryPart;
  /** Its way to shard 0. */
  readonly way: ShardWayEnd;
  readonly config: BrokerConfig;
  /** Absolute. */
  readonly dataPath: string;
  readonly logLevel: string;
  /** Key of an encrypted data directory. */
  readonly key: Uint8Array | undefined;
}
