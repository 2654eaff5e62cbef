import type { Catalog } from "../catalog/catalog.ts";
import type { Topic } from "../catalog/topic.ts";
import type { Effect } from "../effect.ts";
import { dealAnew } from "./assignment.ts";
import type { ConsumerGroup, GroupMember } from "./consumer-group.ts";
import { placeOf } from "./group-table.ts";

/** Takes a member out of its group and deals its partitions, and all others, out anew. */
export function removeMember(
  catalog: Catalog,
  topic: Topic,
  group: ConsumerGroup,
  leaving: GroupMember,
): Effect {
  const members = group.members.filter((member) => member !== leaving);
  return rebalance(catalog, topic, { ...group, members });
}

/** Deals the partitions of a topic out anew in each of its groups: there are more or fewer of them now. */
export function rebalanceTopic(catalog: Catalog, topic: Topic): Effect[] {
  return catalog.groups
    .of(topic)
    .list()
    .map((group) => rebalance(catalog, topic, group));
}

function rebalance(catalog: Catalog, topic: Topic, group: ConsumerGroup): Effect {
  const partitionIds = topic.partitions.map(({ id }) => id);
  const members = dealAnew(group.members, partitionIds);
  catalog.groups.replace(topic, { ...group, generation: group.generation + 1, members });
  return { kind: "group-changed", group: placeOf(topic, group) };
}
