import { CodedError, ErrorCode } from "@millrace/errors";
import { GROUPS_PER_CLIENT_MAX } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { lowestFreeSlot, shareOnJoin } from "./assignment.ts";
import { memberOf } from "./consumer-group.ts";
import { placeOf } from "./group-table.ts";
import { decodeJoinGroupOp, EVERY_PARTITION } from "./join-group-op.ts";
import { requireGroup } from "./require-group.ts";

/**
 * Makes the op's client a member and gives it its share; a client that is one already changes nothing.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, ConsumerGroupIdNotFound, Unauthorized,
 *         TooManyConsumerGroups
 */
export function joinConsumerGroup(catalog: Catalog, op: CommittedOp): ApplyResult {
  const request = decodeJoinGroupOp(op.body);
  const { topic, group } = requireGroup(catalog, request, op.user);
  if (memberOf(group, op.client) !== undefined) return success();
  if (catalog.groups.membershipsCountOf(op.client) >= GROUPS_PER_CLIENT_MAX) {
    throw new CodedError(
      ErrorCode.TooManyConsumerGroups,
      `A client is a member of ${GROUPS_PER_CLIENT_MAX} groups at most.`,
    );
  }
  const newcomer = {
    slot: lowestFreeSlot(group.members),
    client: op.client,
    partitions: [],
    revocations: [],
  };
  const members = [...group.members, newcomer].sort((one, other) => one.slot - other.slot);
  const partitionIds = topic.partitions.map(({ id }) => id);
  const isEvery = request.inFlight.includes(EVERY_PARTITION);
  const shared = shareOnJoin(members, {
    partitionIds,
    inFlight: new Set(isEvery ? partitionIds : request.inFlight),
    createdAt: op.timestamp,
  });
  catalog.groups.replace(topic, { ...group, generation: group.generation + 1, members: shared });
  return success([{ kind: "group-changed", group: placeOf(topic, group) }]);
}
