import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeLeaveConsumerGroup } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { memberOf } from "./consumer-group.ts";
import { removeMember } from "./remove-member.ts";
import { requireGroup } from "./require-group.ts";

/**
 * Ends the membership of the op's client.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, ConsumerGroupIdNotFound, Unauthorized,
 *         ConsumerGroupMemberNotFound
 */
export function leaveConsumerGroup(catalog: Catalog, op: CommittedOp): ApplyResult {
  const { topic, group } = requireGroup(catalog, decodeLeaveConsumerGroup(op.body), op.user);
  const member = memberOf(group, op.client);
  if (member === undefined) throw new CodedError(ErrorCode.ConsumerGroupMemberNotFound);
  return success([removeMember(catalog, topic, group, member)]);
}
