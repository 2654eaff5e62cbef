import { CodedError, ErrorCode } from "@millrace/errors";
import {
  decodeBody,
  decodeGetConsumerOffsetReply,
  encodeDeleteConsumerOffset,
  encodeGetConsumerOffset,
  encodeStoreConsumerOffset,
} from "@millrace/protocol";
import { type GetConsumerOffsetRequest, Millrace } from "./millrace-proto.table.ts";
import { ask, type UnaryMethod, unaryMethod } from "./unary-method.ts";
import { consumerOf, topicOf } from "./wire-values.ts";

const { method } = Millrace;
/** The answer says that the offset is committed. */
const ack = "quorum";

/** Stored offsets of consumers and groups. */
export const offsetMethods: readonly UnaryMethod[] = [
  unaryMethod(method.getConsumerOffset, async (call, request) => {
    const reply = await ask(call, "GetConsumerOffset", encodeGetConsumerOffset, targetOf(request));
    const offset = decodeBody(decodeGetConsumerOffsetReply, reply);
    if (offset === undefined) throw new CodedError(ErrorCode.ConsumerOffsetNotFound);
    const { partitionId, currentOffset, storedOffset } = offset;
    return { partitionId, currentOffset: BigInt(currentOffset), storedOffset: BigInt(storedOffset) };
  }),
  unaryMethod(method.storeConsumerOffset, async (call, request) => {
    const { offset } = request;
    const stored = { ...targetOf(request), offset, ack } as const;
    await ask(call, "StoreConsumerOffset", encodeStoreConsumerOffset, stored);
    return {};
  }),
  unaryMethod(method.deleteConsumerOffset, async (call, request) => {
    const forgotten = { ...targetOf(request), ack } as const;
    await ask(call, "DeleteConsumerOffset", encodeDeleteConsumerOffset, forgotten);
    return {};
  }),
];

type Target = Pick<GetConsumerOffsetRequest, "stream" | "topic" | "consumer" | "group" | "partitionId">;

function targetOf(request: Target) {
  const { partitionId } = request;
  return { ...topicOf(request), consumer: consumerOf(request), partitionId };
}
