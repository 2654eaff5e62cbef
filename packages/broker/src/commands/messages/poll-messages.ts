import { CodedError } from "@millrace/errors";
import { HEADER_LENGTH } from "@millrace/framing";
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
import type { PartitionGroup } from "../../partition-plane/partition-group.ts";
import { directFields } from "../../replies/direct-fields.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";
import { type Handler, refuseWith, refusingErrors } from "../handler.ts";
import { CONSUMER_KIND, consumerId } from "../offsets/consumer-target.ts";
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
  readonly consumerId: number;
  /** Purges of the partition that had ended when it began to read. */
  readonly purgesBefore: number;
}

/**
 * Serves messages of one partition, as stored, by reference.
 *
 * With auto-commit the reply waits until the offset of its last message is committed, so the very next poll
 * of this consumer goes on behind it; the offset never moves backwards. Of messages that a purge takes away
 * meanwhile no offset is stored: it would hide the new ones.
 * @see wire-protocol section 11
 */
export const pollMessages: Handler = (shard, request, session) => {
  const asked = decodeBody(decodePollMessages, request.body);
  const { stream, topic } = findTopic(shard, asked);
  const group = findGroup(shard, topic, asked.partitionId ?? 0);
  checkPermission(shard, session, "poll", { stream: stream.id, topic: topic.id });
  if (asked.consumer.kind === "group") {
    answerNonMember(shard, request, asked);
    return;
  }
  const consumer = consumerId(shard, asked.consumer);
  group.afterOpen(() =>
    refusingErrors(shard, request, () => {
      const partition = group.openPartition;
      const purgesBefore = group.purgesEnded;
      serve({ shard, request, session, asked, group, partition, consumerId: consumer, purgesBefore });
    }),
  );
};

/**
 * Nobody is a member of a group yet: with a partition the caller does not own it, without one there is
 * nothing.
 */
function answerNonMember(shard: Shard, request: ClientRequest, asked: PollMessages): void {
  const partitionId = asked.partitionId === undefined ? 0 : PARTITION_NOT_OWNED;
  const header = encodePollReplyHead({ partitionId, currentOffset: 0, count: 0 });
  request.answer([header], directFields(shard, request.connection));
}

function serve(poll: Poll): void {
  const { shard, asked, partition } = poll;
  const isNext = asked.strategy.kind === "next";
  const stored = isNext ? partition.consumerOffset(CONSUMER_KIND, poll.consumerId) : undefined;
  const from = pollPosition(asked.strategy, partition, { count: asked.count, stored });
  if (from === undefined || asked.count === 0) {
    answerEmpty(poll);
    return;
  }
  if (asked.autoCommit) checkOffsetRoom(shard, partition, poll.consumerId);
  const lengthMax = shard.config.messageLengthMax - HEADER_LENGTH - POLL_REPLY_HEAD_LENGTH;
  partition.read({ from, count: asked.count, lengthMax }, (error, result) => {
    if (error !== undefined) refuseWith(shard, poll.request, error);
    else if (result === undefined || result.count === 0) answerEmpty(poll, result);
    else answerMessages(poll, result);
  });
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
  storeOffsetForward(poll, result.lastOffset, {
    stored: reply,
    failed(code) {
      result.release();
      refuseWith(shard, request, new CodedError(code));
    },
  });
}

function replyHead({ group, partition }: Poll, count: number): Uint8Array {
  const currentOffset = Math.max(0, partition.committedNextOffset - 1);
  return encodePollReplyHead({ partitionId: group.identity.partitionId, currentOffset, count });
}
