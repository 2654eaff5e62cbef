import type { GroupDetails, GroupRecord } from "@millrace/protocol";
import type { Fields } from "../json/fields.ts";
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

/** The counterpart of `groupJson`. */
export function readGroupJson(fields: Fields): GroupRecord {
  return {
    id: fields.u32("id"),
    partitionsCount: fields.u32("partitions_count"),
    membersCount: fields.u32("members_count"),
    name: fields.text("name"),
  };
}

/** The counterpart of `groupDetailsJson`. */
export function readGroupDetailsJson(fields: Fields): GroupDetails {
  const members = fields.objects("members").map((member) => ({
    id: member.u32("id"),
    partitions: member.numbers("partitions"),
  }));
  return { ...readGroupJson(fields), members };
}
