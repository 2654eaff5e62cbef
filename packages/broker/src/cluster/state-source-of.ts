import type { GroupAddress } from "@millrace/framing";
import { metadataSource } from "../metadata-plane/offered-metadata.ts";
import { LocalPartition } from "../partition-plane/local-partition.ts";
import { partitionSource } from "../partition-plane/offered-partition.ts";
import type { Shard } from "../shard.ts";
import type { StateSource } from "./state-transfer/state-source.ts";

/** The state of a group as this node has it; nothing for a group it has no replica of. */
export function stateSourceOf(
  { partitions, platform, metadata, kernel }: Shard,
  group: GroupAddress,
): StateSource | undefined {
  if (group.kind === "metadata") return metadataSource(metadata, kernel);
  const handle = partitions.find(group.partition);
  return handle instanceof LocalPartition ? partitionSource(platform.disk, handle.group) : undefined;
}
