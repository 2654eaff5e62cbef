import { CodedError, ErrorCode } from "@millrace/errors";
import { encodeCreateTopicReply, TOPICS_PER_STREAM_MAX } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requireStream } from "../catalog/targets.ts";
import type { Topic } from "../catalog/topic.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { optionEntries } from "../options/option-map.ts";
import { appendPartitions, partitionsCreated } from "../partitions/append-partitions.ts";
import { requireGrant } from "../permissions/may.ts";
import { decodeCreateTopicOp } from "./create-topic-op.ts";

/**
 * Creates a topic under the lowest free id of its stream, with its partitions.
 * @throws CodedError StreamIdNotFound, Unauthorized, TopicNameAlreadyExists, TooManyTopics,
 *         InvalidPartitionsCount
 */
export function createTopic(catalog: Catalog, op: CommittedOp): ApplyResult {
  const request = decodeCreateTopicOp(op.body);
  const stream = requireStream(catalog, request.stream);
  requireGrant(catalog, op.user, "create-topic", { stream: stream.id });
  if (stream.topics.byName(request.name) !== undefined)
    throw new CodedError(ErrorCode.TopicNameAlreadyExists);
  if (stream.topics.size >= TOPICS_PER_STREAM_MAX) throw new CodedError(ErrorCode.TooManyTopics);
  const topic: Topic = {
    streamId: stream.id,
    id: stream.topics.lowestFreeId(),
    name: request.name,
    createdAt: op.timestamp,
    revision: op.op,
    partitions: appendPartitions([], request.partitionsCount, op),
    explicitOptions: request.explicit,
    derivedOptions: request.derived,
    purgeGeneration: 0,
    ...request.settings,
  };
  stream.topics.add(topic);
  return success(partitionsCreated(topic, topic.partitions), encodeCreateTopicReply(newTopicDetails(topic)));
}

/** A topic as its creator sees it: every partition has its first segment and nothing in it. */
function newTopicDetails(topic: Topic) {
  const empty = { byteLength: 0, messagesCount: 0 };
  return {
    ...topic,
    ...empty,
    partitionsCount: topic.partitions.length,
    explicitOptions: optionEntries(topic.explicitOptions),
    derivedOptions: optionEntries(topic.derivedOptions),
    partitions: topic.partitions.map(({ id, createdAt }) => ({
      id,
      createdAt,
      segmentsCount: 1,
      currentOffset: 0,
      ...empty,
    })),
  };
}
