import type { GroupMember, GroupRecord } from "@millrace/client";
import type { Field } from "../../output/result.ts";

/** What is shown of a consumer group, in the order of `consumer-group list`. */
export const GROUP_FIELDS: readonly Field<GroupRecord>[] = [
  { name: "id", title: "ID", value: (group) => group.id },
  { name: "name", title: "Name", value: (group) => group.name },
  { name: "partitions_count", title: "Partitions Count", value: (group) => group.partitionsCount },
  { name: "members_count", title: "Members Count", value: (group) => group.membersCount },
];

/** What is shown of a member. */
export const MEMBER_FIELDS: readonly Field<GroupMember>[] = [
  { name: "id", title: "Member ID", value: (member) => member.id },
  { name: "partitions_count", title: "Partitions Count", value: (member) => member.partitions.length },
  {
    name: "partitions",
    title: "Partitions",
    value: (member) => [...member.partitions],
    text: (member) => member.partitions.join(", "),
  },
];
