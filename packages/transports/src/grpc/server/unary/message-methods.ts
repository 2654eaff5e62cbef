import { CodedError, ErrorCode } from "@millrace/errors";
import {
  batchLengthOf,
  decodeTypedFields,
  FrameCursor,
  HEADER_LENGTH,
  isWireError,
  type OutgoingMessage,
} from "@millrace/framing";
import type { Clock } from "@millrace/platform";
import {
  decodeBody,
  decodePollMessagesReply,
  decodeSendMessagesReply,
  encodeBody,
  encodePollMessages,
  encodeSendMetadata,
  PAYLOAD_LENGTH_MAX,
  type Partitioning,
  type PollingStrategy,
} from "@millrace/protocol";
import { idBytes, idOf } from "./message-id.ts";
import {
  Millrace,
  type OutgoingMessage as OutgoingProto,
  type PollMessagesRequest,
  type SendMessagesRequest,
} from "./millrace-proto.table.ts";
import { typedValue } from "./proto-objects.ts";
import { type UnaryMethod, unaryMethod } from "./unary-method.ts";
import { consumerOf, topicOf, userHeadersOf } from "./wire-values.ts";

const { method } = Millrace;
const COUNT_DEFAULT = 10;

/** What produce needs beside a session. */
export interface MessageMethodParts {
  readonly clock: Clock;
  /** Longest message of the binary protocol, header and body, in bytes. */
  readonly messageLengthMax: number;
}

/** Produce and poll. */
export function messageMethods({ clock, messageLengthMax }: MessageMethodParts): readonly UnaryMethod[] {
  return [
    unaryMethod(method.sendMessages, async ({ session }, request) => {
      const messages = request.messages.map(messageOf);
      if (messages.length === 0) throw new CodedError(ErrorCode.InvalidMessagesCount, "There is no message.");
      const target = { ...topicOf(request), partitioning: partitioningOf(request) };
      const metadata = encodeBody(encodeSendMetadata, { ...target, messagesCount: messages.length });
      checkLength(HEADER_LENGTH + metadata.length + batchLengthOf(messages), messageLengthMax);
      const reply = await session.send({ metadata, messages, originTimestamp: clock.wallMicros() });
      const [confirmation] = decodeBody(decodeSendMessagesReply, reply);
      if (confirmation === undefined) throw new CodedError(ErrorCode.InvalidCommand, "A reply is empty.");
      return { ...confirmation, baseOffset: BigInt(confirmation.baseOffset) };
    }),
    unaryMethod(method.pollMessages, async ({ session }, request) => {
      const poll = {
        ...topicOf(request),
        consumer: consumerOf(request),
        partitionId: request.partitionId,
        strategy: strategyOf(request),
        count: request.count ?? COUNT_DEFAULT,
        autoCommit: request.autoCommit,
      };
      const body = encodeBody(encodePollMessages, poll);
      return session.poll(body, { stores: request.autoCommit, make: polled });
    }),
  ];
}

function messageOf({ id, payload, userHeaders }: OutgoingProto): OutgoingMessage {
  if (payload.length === 0) throw new CodedError(ErrorCode.EmptyMessagePayload, "A message has no payload.");
  if (payload.length > PAYLOAD_LENGTH_MAX) {
    const text = `A payload of ${payload.length} bytes is longer than ${PAYLOAD_LENGTH_MAX}.`;
    throw new CodedError(ErrorCode.TooBigMessagePayload, text);
  }
  const headers = userHeadersOf(userHeaders);
  return { id: idOf(id), payload, ...(headers === undefined ? {} : { userHeaders: headers }) };
}

function partitioningOf({ partitioning }: SendMessagesRequest): Partitioning {
  switch (partitioning.case) {
    case undefined:
      return { kind: "balanced" };
    case "partitionId":
      return { kind: "partition", partitionId: partitioning.value };
    case "key":
      return { kind: "key", key: partitioning.value };
  }
}

function strategyOf({ strategy }: PollMessagesRequest): PollingStrategy {
  switch (strategy.case) {
    case undefined:
      return { kind: "offset", offset: 0n };
    case "offset":
      return { kind: "offset", offset: strategy.value };
    case "timestamp":
      return { kind: "timestamp", micros: strategy.value };
    default:
      return { kind: strategy.case };
  }
}

/** A batch takes more than the request's bytes: 48 for each message. */
function checkLength(length: number, lengthMax: number): void {
  if (length <= lengthMax) return;
  const text = `The messages make a request of ${length} bytes; ${lengthMax} are allowed. Send fewer at once.`;
  throw new CodedError(ErrorCode.FrameTooLarge, text, { details: { length, lengthMax } });
}

function polled(payload: Uint8Array) {
  const { partitionId, currentOffset, batches } = decodeBody(decodePollMessagesReply, payload);
  const messages = [];
  for (let position = 0; position < batches.length; ) {
    const cursor = new FrameCursor(batches, position);
    while (cursor.next()) messages.push(polledMessage(cursor));
    position += cursor.header.batchLength;
  }
  return { partitionId, currentOffset: BigInt(currentOffset), messages };
}

function polledMessage(cursor: FrameCursor) {
  const { header, checksum, payload } = cursor;
  return {
    offset: BigInt(header.baseOffset + cursor.offsetDelta),
    id: idBytes(cursor.id),
    timestamp: BigInt(header.baseTimestamp),
    originTimestamp: BigInt(header.originTimestamp + cursor.timestampDelta),
    checksum,
    payload,
    userHeaders: userHeaderMessages(cursor.userHeaders),
  };
}

/** Headers that another client sent and that are none are left out: nobody could read them. */
function userHeaderMessages(block: Uint8Array) {
  try {
    return decodeTypedFields(block).map(([key, value]) => ({
      key: typedValue(key),
      value: typedValue(value),
    }));
  } catch (error) {
    if (!isWireError(error)) throw error;
    return [];
  }
}
