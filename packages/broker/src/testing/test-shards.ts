import { BlockPool, type ChecksumKernel } from "@millrace/framing";
import type { ShardBus } from "@millrace/platform";
import { createSimShardBuses } from "@millrace/platform/sim";
import type { PartitionHostOptions } from "../partition-plane/partition-host.ts";
import { PartitionShard } from "../shards/partition-shard.ts";

const MIB = 1024 * 1024;
const BLOCK_LENGTH = MIB / 4;

/** Shards of one broker, all in the test's thread and on one simulated disk. */
export interface TestShards {
  /** Nothing for a broker with one shard. */
  readonly bus: ShardBus | undefined;
  /** Message memory of shard 0, then that of the others. */
  readonly pools: readonly BlockPool[];
  readonly owners: readonly PartitionShard[];
}

/** Makes the pools of `shardsCount` shards over the kernel's memory, and every shard but the first. */
export function startTestShards(shardsCount: number, parts: Omit<PartitionHostOptions, "pool">): TestShards {
  const pools = poolsOver(parts.kernel, shardsCount);
  if (shardsCount === 1) return { bus: undefined, pools, owners: [] };
  const [bus, ...others] = createSimShardBuses({ shardsCount });
  const owners = others.map((other, index) => {
    const pool = pools[index + 1];
    if (pool === undefined) throw new Error("every shard has a pool");
    return new PartitionShard({ ...parts, pool }, other);
  });
  return { bus, pools, owners };
}

function poolsOver({ memory }: ChecksumKernel, count: number): BlockPool[] {
  const room = memory.bytes.length - memory.blocksStart;
  const length = Math.floor(room / count / BLOCK_LENGTH) * BLOCK_LENGTH;
  return Array.from({ length: count }, (_, shard) => {
    const position = memory.blocksStart + shard * length;
    return new BlockPool(memory, { position, length, checked: true, blockLength: BLOCK_LENGTH });
  });
}
