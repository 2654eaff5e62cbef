import { CodedError, ErrorCode } from "@millrace/errors";
import {
  checkName,
  decodeBody,
  decodeCreateConsumerGroupReply,
  decodeGetConsumerGroupReply,
  decodeGetConsumerGroupsReply,
  encodeCreateConsumerGroup,
  encodeDeleteConsumerGroup,
  encodeGetConsumerGroup,
  encodeGetConsumerGroups,
} from "@millrace/protocol";
import { type GetConsumerGroupRequest, Millrace } from "./millrace-proto.table.ts";
import { groupMessage } from "./proto-objects.ts";
import { ask, type UnaryMethod, unaryMethod } from "./unary-method.ts";
import { identifierOf, topicOf } from "./wire-values.ts";

const { method } = Millrace;

/** Consumer groups, seen from outside. */
export const groupMethods: readonly UnaryMethod[] = [
  unaryMethod(method.createConsumerGroup, async (call, request) => {
    const { name } = request;
    checkName(name, ErrorCode.InvalidConsumerGroupName);
    const group = { ...topicOf(request), name };
    const reply = await ask(call, "CreateConsumerGroup", encodeCreateConsumerGroup, group);
    return { group: groupMessage(decodeBody(decodeCreateConsumerGroupReply, reply)) };
  }),
  unaryMethod(method.getConsumerGroup, async (call, request) => {
    const reply = await ask(call, "GetConsumerGroup", encodeGetConsumerGroup, groupOf(request));
    const group = decodeBody(decodeGetConsumerGroupReply, reply);
    if (group === undefined) throw new CodedError(ErrorCode.ConsumerGroupIdNotFound);
    const members = group.members.map(({ id, partitions }) => ({ id, partitions: [...partitions] }));
    return { group: groupMessage(group), members };
  }),
  unaryMethod(method.listConsumerGroups, async (call, request) => {
    const reply = await ask(call, "GetConsumerGroups", encodeGetConsumerGroups, topicOf(request));
    return { groups: decodeBody(decodeGetConsumerGroupsReply, reply).map(groupMessage) };
  }),
  unaryMethod(method.deleteConsumerGroup, async (call, request) => {
    await ask(call, "DeleteConsumerGroup", encodeDeleteConsumerGroup, groupOf(request));
    return {};
  }),
];

/** The consumer group of a request. */
export function groupOf(request: Pick<GetConsumerGroupRequest, "stream" | "topic" | "group">) {
  return { ...topicOf(request), group: identifierOf(request.group, "group") };
}
