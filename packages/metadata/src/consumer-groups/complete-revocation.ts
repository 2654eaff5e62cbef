import type { Catalog } from "../catalog/catalog.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { completeRevocation } from "./assignment.ts";
import { placeOf } from "./group-table.ts";
import { decodeCompleteRevocationOp } from "./server-ops.ts";

/**
 * Operation 67: the partition goes to the member that waits for it. A revocation that is pending no more was
 * completed or overtaken by another change; then nothing happens.
 */
export function completeConsumerGroupRevocation(catalog: Catalog, op: CommittedOp): ApplyResult {
  const done = decodeCompleteRevocationOp(op.body);
  const topic = catalog.streams.byId(done.streamId)?.topics.byId(done.topicId);
  const group = topic && catalog.groups.of(topic).byId(done.groupId);
  const members = group && completeRevocation(group.members, done);
  if (topic === undefined || group === undefined || members === undefined) return success();
  catalog.groups.replace(topic, { ...group, generation: group.generation + 1, members });
  return success([{ kind: "group-changed", group: placeOf(topic, group) }]);
}
