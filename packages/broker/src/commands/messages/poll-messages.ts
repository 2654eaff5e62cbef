import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { HEADER_LENGTH } from "@millrace/framing";
import type { Topic } from "@millrace/metadata";
import {
  decodeBody,
  decodePollMessages,
  encodePollReplyHead,
  PARTITION_NOT_OWNED,
  POLL_REPLY_HEAD_LENGTH,
  type PollMessages,
} from "@millrace/protocol";
import type { ReadResult } from "@millrace/storage";
import { checkPermission } from "../../admission/check-permission.ts";
import { findHandle, findTopic } from "../../admission/find-target.ts";
import { findConsumerGroup, memberClientOf, rightOf } from "../../consumer-groups/membership.ts";
import type { PartitionHandle } from "../../partition-plane/partition-handle.ts";
import { directFields } from "../../replies/direct-fields.ts";
import { REPLY_LENGTH_ALWAYS } from "../../sessions/client-connection.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";
import { crowded, type Handler, refuseWith, refuseWithCode } from "../handler.ts";
import { type ConsumerKey, consumerKeyOf, settledAfter } from "../offsets/consumer-target.ts";

/** One poll on its way. */
interface Poll {
  readonly shard: Shard;
  readonly request: ClientRequest;
  readonly session: Session;
  readonly asked: PollMessages;
  readonly handle: PartitionHandle;
  readonly consumer: ConsumerKey;
  /** Purges of the partition that had ended when it began to read. */
  readonly purgesBefore: number;
  /** Of the partition when it began to read. */
  readonly generation: number | undefined;
}

/**
 * Serves messages of one partition, as stored, by reference.
 *
 * With auto-commit the reply waits until the offset of its last message is committed, so the very next poll
 * of this consumer goes on behind it; the offset never moves backwards. Of messages that a purge takes away
 * meanwhile no offset is stored: it would hide the new ones.
 *
 * A member of a group polls what it owns and nobody waits for; anything else is answered without messages and
 * with partition 0xFFFFFFFF.
 * @see wire-protocol section 11
 */
export const pollMessages: Handler = (shard, request, session) => {
  poll(shard, request, session, () => {});
};

/**
 * The same where the partition is led, so that the messages are the newest and the offset is stored here.
 *
 * Codes beside those of a poll: 58 on a node that does not lead the partition.
 */
export const pollMessagesOnPrimary: Handler = (shard, request, session) => {
  poll(shard, request, session, (handle) => {
    if (!handle.isPrimary) throw new CodedError(ErrorCode.TransientNotAccepted);
  });
};

function poll(
  shard: Shard,
  request: ClientRequest,
  session: Session,
  checkHandle: (handle: PartitionHandle) => void,
): void {
  const asked = decodeBody(decodePollMessages, request.body);
  const { stream, topic } = findTopic(shard, asked);
  const handle = findHandle(shard, topic, asked.partitionId ?? 0);
  checkPermission(shard, session, "poll", { stream: stream.id, topic: topic.id });
  if (asked.consumer.kind === "group" && !mayBeMember(shard, topic, asked)) {
    answerNothing(shard, request, asked.partitionId === undefined ? 0 : PARTITION_NOT_OWNED);
    return;
  }
  checkHandle(handle);
  const consumer = consumerKeyOf(shard, topic, asked.consumer);
  const begin = () => {
    const purgesBefore = handle.purgesEnded;
    const { generation } = handle;
    const poll: Poll = { shard, request, session, asked, handle, consumer, purgesBefore, generation };
    if (isPollable(poll)) serve(poll);
    else answerNothing(shard, request, PARTITION_NOT_OWNED);
  };
  const { place } = consumer;
  handle.afterOpen(place === undefined ? begin : () => shard.groups.gates.pass(place, begin));
}

/** A poll for a group names its partition; of a group that does not exist nobody is a member. */
function mayBeMember(shard: Shard, topic: Topic, { consumer, partitionId }: PollMessages): boolean {
  return partitionId !== undefined && findConsumerGroup(shard, topic, consumer.id) !== undefined;
}

function isPollable({ shard, session, handle, consumer }: Poll): boolean {
  if (consumer.place === undefined) return true;
  return rightOf(shard, session, consumer.place, handle.identity.partitionId) === "poll";
}

function answerNothing(shard: Shard, request: ClientRequest, partitionId: number): void {
  const header = encodePollReplyHead({ partitionId, currentOffset: 0, count: 0 });
  request.answer([header], directFields(shard, request.connection));
}

function serve(poll: Poll): void {
  const { shard, request, asked, handle, consumer } = poll;
  const { strategy, count, autoCommit: needsOffsetRoom } = asked;
  const { messageLengthMax } = shard.config;
  const isCrowded = !request.connection.mayOwe(messageLengthMax);
  const replyLengthMax = isCrowded ? Math.min(REPLY_LENGTH_ALWAYS, messageLengthMax) : messageLengthMax;
  const lengthMax = replyLengthMax - HEADER_LENGTH - POLL_REPLY_HEAD_LENGTH;
  const noteEnd = noteRead(poll);
  handle.poll(
    { key: consumer, strategy, count, lengthMax, needsOffsetRoom },
    (error, result, currentOffset) => {
      const isTooLong = isCrowded && isCodedError(error, ErrorCode.FrameTooLarge);
      const refusal = isTooLong ? crowded() : (error ?? refusalOf(poll, result));
      noteEnd(refusal === undefined ? result : undefined);
      if (refusal !== undefined) refuseWith(shard, request, refusal);
      else if (result === undefined) answerEmpty(poll, currentOffset);
      else answerMessages(poll, result, currentOffset);
    },
  );
}

/** Why what was read is not given out; then it is let go. */
function refusalOf({ request }: Poll, result: ReadResult | undefined): CodedError | undefined {
  if (result === undefined || request.connection.mayOwe(result.length)) return undefined;
  result.release();
  return crowded();
}

/** Notes for a group what its member is being given; the returned function takes how the read ended. */
function noteRead({ shard, session, handle, consumer }: Poll): (result: ReadResult | undefined) => void {
  const { place } = consumer;
  if (place === undefined) return () => {};
  const client = memberClientOf(session);
  handle.polled.begin(place.groupId, client);
  return (result) => {
    handle.polled.end(place.groupId, client, result?.lastOffset);
    shard.groups.settled(place, handle.identity.partitionId);
  };
}

function answerEmpty({ shard, request, handle }: Poll, currentOffset: number): void {
  const { partitionId } = handle.identity;
  const head = encodePollReplyHead({ partitionId, currentOffset, count: 0 });
  request.answer([head], directFields(shard, request.connection));
}

function answerMessages(poll: Poll, result: ReadResult, currentOffset: number): void {
  const { shard, request, asked, handle } = poll;
  const reply = () => {
    shard.metrics.messagesServed.add(result.count);
    shard.metrics.bytesServed.add(result.length);
    shard.metrics.totals.readBytes += result.length;
    const { partitionId } = handle.identity;
    const head = encodePollReplyHead({ partitionId, currentOffset, count: result.count });
    request.answer([head, ...result.parts], directFields(shard, request.connection), () => result.release());
  };
  if (!asked.autoCommit || handle.purgesBegun > poll.purgesBefore) {
    reply();
    return;
  }
  if (!isOwned(poll)) {
    result.release();
    answerNothing(shard, request, PARTITION_NOT_OWNED);
    return;
  }
  storeForward(poll, result, reply);
}

function storeForward(poll: Poll, result: ReadResult, reply: () => void): void {
  const { shard, request, session, handle, consumer } = poll;
  const { client, user } = session;
  // Once the offset is stored the messages have to be given out.
  const unreserve = request.connection.reserve(result.length);
  const stored = () => {
    unreserve();
    reply();
  };
  const outcome = settledAfter(shard, poll, {
    committed: stored,
    failed(code) {
      unreserve();
      result.release();
      refuseWithCode(shard, request, code);
    },
  });
  const { generation } = poll;
  const whose = { client, request: request.number, user, isNumbered: false };
  const op = { ...whose, key: consumer, refusal: undefined, generation };
  handle.storeOffsetForward({ ...op, offset: BigInt(result.lastOffset), ...outcome }, stored);
}

/** False when the partition went to another member while it was read: then nothing may be committed. */
function isOwned({ shard, session, handle, consumer }: Poll): boolean {
  return (
    consumer.place === undefined ||
    rightOf(shard, session, consumer.place, handle.identity.partitionId) !== "none"
  );
}
