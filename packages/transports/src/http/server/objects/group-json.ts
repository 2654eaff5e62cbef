import type { GroupDetails, GroupRecord } from "@millrace/protocol";
import type { JsonValue } from "../json/write-json.ts";

/** ConsumerGroup. */
export function groupJson(group: GroupRecord): { readonly [name: string]: JsonValue } {
  return {
    id: group.id,
    name: group.name,
    partitions_count: group.partitionsCount,
    members_count: group.membersCount,
  };
}

/** ConsumerGroupDetails. */
export function groupDetailsJson(group: GroupDetails): JsonValue {
  const members = group.members.map(({ id, partitions }) => ({
    id,
    partitions_count: partitions.length,
    partitions,
  }));
  return { ...groupJson(group), members };
}
