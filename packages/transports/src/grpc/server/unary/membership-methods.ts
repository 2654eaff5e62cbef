import {
  decodeBody,
  decodeSyncConsumerGroupReply,
  encodeJoinConsumerGroup,
  encodeLeaveConsumerGroup,
  encodeSyncConsumerGroup,
} from "@millrace/protocol";
import { groupOf } from "./group-methods.ts";
import { Millrace } from "./millrace-proto.table.ts";
import { ask, type UnaryMethod, unaryMethod } from "./unary-method.ts";

const { method } = Millrace;

/** What a member of a consumer group does; the member is the session behind the token. */
export const membershipMethods: readonly UnaryMethod[] = [
  unaryMethod(method.joinConsumerGroup, async (call, request) => {
    await ask(call, "JoinConsumerGroup", encodeJoinConsumerGroup, groupOf(request));
    call.becomeMember();
    return {};
  }),
  unaryMethod(method.leaveConsumerGroup, async (call, request) => {
    await ask(call, "LeaveConsumerGroup", encodeLeaveConsumerGroup, groupOf(request));
    return {};
  }),
  unaryMethod(method.syncConsumerGroup, async (call, request) => {
    const reply = await ask(call, "SyncConsumerGroup", encodeSyncConsumerGroup, groupOf(request));
    const assignment = decodeBody(decodeSyncConsumerGroupReply, reply);
    if (assignment === undefined) return { isMember: false };
    const { generation, partitions } = assignment;
    return { isMember: true, generation: BigInt(generation), partitions: [...partitions] };
  }),
];
