import { decodeDeleteConsumerGroup } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { placeOf } from "./group-table.ts";
import { requireGroup } from "./require-group.ts";

/**
 * Deletes a group with its members; whoever holds partitions forgets the group's offsets.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, ConsumerGroupIdNotFound, Unauthorized
 */
export function deleteConsumerGroup(catalog: Catalog, op: CommittedOp): ApplyResult {
  const { topic, group } = requireGroup(catalog, decodeDeleteConsumerGroup(op.body), op.user);
  catalog.groups.remove(topic, group);
  return success([{ kind: "group-deleted", group: placeOf(topic, group) }]);
}
