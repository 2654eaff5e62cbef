import type { GroupAddress } from "@millrace/framing";
import { LocalPartition } from "../partition-plane/local-partition.ts";
import { partitionSource } from "../partition-plane/offered-partition.ts";
import type { Shard } from "../shard.ts";
import type { StateSource } from "./state-transfer/state-source.ts";

/** The state of a group as this node has it; nothing for a group it has no replica of. */
export function stateSourceOf({ partitions, platform }: Shard, group: GroupAddress): StateSource | undefined {
  if (group.kind === "metadata") return undefined;
  const handle = partitions.find(group.partition);
  return handle instanceof LocalPartition ? partitionSource(platform.disk, handle.group) : undefined;
}
