import type { Catalog } from "../catalog/catalog.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import type { Effect } from "../effect.ts";
import { memberOf } from "./consumer-group.ts";
import { removeMember } from "./remove-member.ts";
import { decodeRemoveMemberOp } from "./server-ops.ts";

/** Logout: the session's memberships end with it. */
export function logout(catalog: Catalog, op: CommittedOp): ApplyResult {
  return success(leaveAll(catalog, op.client));
}

/** Operation 66: ends every membership of a client whose session outlived its connection. */
export function removeConsumerGroupMember(catalog: Catalog, op: CommittedOp): ApplyResult {
  return success(leaveAll(catalog, decodeRemoveMemberOp(op.body)));
}

function leaveAll(catalog: Catalog, client: bigint): Effect[] {
  return catalog.groups.membershipsOf(client).flatMap(({ streamId, topicId, groupId }) => {
    const topic = catalog.streams.byId(streamId)?.topics.byId(topicId);
    const group = topic && catalog.groups.of(topic).byId(groupId);
    const member = group && memberOf(group, client);
    if (topic === undefined || group === undefined || member === undefined) return [];
    return [removeMember(catalog, topic, group, member)];
  });
}
