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
import type { Partition, ReadResult } from "@millrace/storage";
import { checkPermission } from "../../admission/check-permission.ts";
import { findGroup, findTopic } from "../../admission/find-target.ts";
import { findConsumerGroup, rightOf } from "../../consumer-groups/membership.ts";
import type { PartitionGroup } from "../../partition-plane/partition-group.ts";
import { directFields } from "../../replies/direct-fields.ts";
import { REPLY_LENGTH_ALWAYS } from "../../sessions/client-connection.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";
import { crowded, type Handler, refuseWith, refusingErrors } from "../handler.ts";
import { type ConsumerKey, consumerKeyOf } from "../offsets/consumer-target.ts";
import { checkOffsetRoom, storeOffsetForward } from "../offsets/store-offset-op.ts";
import { pollPosition } from "./poll-position.ts";

/** One poll on its way. */
interface Poll {
  readonly shard: Shard;
  readonly request: ClientRequest;
  readonly session: Session;
  readonly asked: PollMessages;
  readonly group: PartitionGroup;
  readonly partition: Partition;
  readonly consumer: ConsumerKey;
  /** Purges of the partition that had ended when it began to read. */
  readonly purgesBefore: number;
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
  const asked = decodeBody(decodePollMessages, request.body);
  const { stream, topic } = findTopic(shard, asked);
  const group = findGroup(shard, topic, asked.partitionId ?? 0);
  checkPermission(shard, session, "poll", { stream: stream.id, topic: topic.id });
  if (asked.consumer.kind === "group" && !mayBeMember(shard, topic, asked)) {
    answerNothing(shard, request, asked.partitionId === undefined ? 0 : PARTITION_NOT_OWNED);
    return;
  }
  const consumer = consumerKeyOf(shard, topic, asked.consumer);
  const begin = () =>
    refusingErrors(shard, request, () => {
      const partition = group.openPartition;
      const purgesBefore = group.purgesEnded;
      const poll: Poll = { shard, request, session, asked, group, partition, consumer, purgesBefore };
      if (isPollable(poll)) serve(poll);
      else answerNothing(shard, request, PARTITION_NOT_OWNED);
    });
  const { place } = consumer;
  group.afterOpen(place === undefined ? begin : () => shard.groups.gates.pass(place, begin));
};

/** A poll for a group names its partition; of a group that does not exist nobody is a member. */
function mayBeMember(shard: Shard, topic: Topic, { consumer, partitionId }: PollMessages): boolean {
  return partitionId !== undefined && findConsumerGroup(shard, topic, consumer.id) !== undefined;
}

function isPollable({ shard, session, group, consumer }: Poll): boolean {
  if (consumer.place === undefined) return true;
  return rightOf(shard, session, consumer.place, group.identity.partitionId) === "poll";
}

function answerNothing(shard: Shard, request: ClientRequest, partitionId: number): void {
  const header = encodePollReplyHead({ partitionId, currentOffset: 0, count: 0 });
  request.answer([header], directFields(shard, request.connection));
}

function serve(poll: Poll): void {
  const { shard, asked, partition } = poll;
  const isNext = asked.strategy.kind === "next";
  const stored = isNext ? partition.consumerOffset(poll.consumer.kind, poll.consumer.id) : undefined;
  const from = pollPosition(asked.strategy, partition, { count: asked.count, stored });
  if (from === undefined || asked.count === 0) {
    answerEmpty(poll);
    return;
  }
  if (asked.autoCommit) checkOffsetRoom(shard, partition, poll.consumer);
  const { messageLengthMax } = shard.config;
  const isCrowded = !poll.request.connection.mayOwe(messageLengthMax);
  const replyLengthMax = isCrowded ? Math.min(REPLY_LENGTH_ALWAYS, messageLengthMax) : messageLengthMax;
  const lengthMax = replyLengthMax - HEADER_LENGTH - POLL_REPLY_HEAD_LENGTH;
  const noteEnd = noteRead(poll);
  partition.read({ from, count: asked.count, lengthMax }, (error, result) => {
    const isTooLong = isCrowded && isCodedError(error, ErrorCode.FrameTooLarge);
    const refusal = isTooLong ? crowded() : (error ?? refusalOf(poll, result));
    noteEnd(refusal === undefined ? result : undefined);
    if (refusal !== undefined) refuseWith(shard, poll.request, refusal);
    else if (result === undefined || result.count === 0) answerEmpty(poll, result);
    else answerMessages(poll, result);
  });
}

/** Why what was read is not given out; then it is let go. */
function refusalOf({ request }: Poll, result: ReadResult | undefined): CodedError | undefined {
  if (result === undefined || request.connection.mayOwe(result.length)) return undefined;
  result.release();
  return crowded();
}

/** Notes for a group what its member is being given; the returned function takes how the read ended. */
function noteRead({ shard, session, group, consumer }: Poll): (result: ReadResult | undefined) => void {
  const { place } = consumer;
  if (place === undefined) return () => {};
  group.polled.begin(place.groupId, session.client);
  return (result) => {
    const lastOffset = result !== undefined && result.count > 0 ? result.lastOffset : undefined;
    group.polled.end(place.groupId, session.client, lastOffset);
    shard.groups.settled(place, group.identity.partitionId);
  };
}

/** Empty says "no more yet": where damage hides what there is, it is named instead. */
function answerEmpty(poll: Poll, result?: ReadResult): void {
  result?.release();
  const { offsetsFault } = poll.partition;
  if (offsetsFault !== undefined) {
    refuseWith(poll.shard, poll.request, offsetsFault);
    return;
  }
  poll.request.answer([replyHead(poll, 0)], directFields(poll.shard, poll.request.connection));
}

function answerMessages(poll: Poll, result: ReadResult): void {
  const { shard, request, asked } = poll;
  const reply = () => {
    shard.metrics.messagesServed.add(result.count);
    shard.metrics.bytesServed.add(result.length);
    shard.metrics.totals.readBytes += result.length;
    const body = [replyHead(poll, result.count), ...result.parts];
    request.answer(body, directFields(shard, request.connection), () => result.release());
  };
  if (!asked.autoCommit || poll.group.purgesBegun > poll.purgesBefore) {
    reply();
    return;
  }
  if (!isOwned(poll)) {
    result.release();
    answerNothing(shard, request, PARTITION_NOT_OWNED);
    return;
  }
  // Once the offset is stored the messages have to be given out.
  const unreserve = request.connection.reserve(result.length);
  storeOffsetForward(poll, result.lastOffset, {
    stored() {
      unreserve();
      reply();
    },
    failed(code) {
      unreserve();
      result.release();
      refuseWith(shard, request, new CodedError(code));
    },
  });
}

/** False when the partition went to another member while it was read: then nothing may be committed. */
function isOwned({ shard, session, group, consumer }: Poll): boolean {
  return (
    consumer.place === undefined ||
    rightOf(shard, session, consumer.place, group.identity.partitionId) !== "none"
  );
}

function replyHead({ group, partition }: Poll, count: number): Uint8Array {
  const currentOffset = Math.max(0, partition.committedNextOffset - 1);
  return encodePollReplyHead({ partitionId: group.identity.partitionId, currentOffset, count });
}
