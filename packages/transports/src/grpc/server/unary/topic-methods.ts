import { CodedError, ErrorCode } from "@millrace/errors";
import {
  checkName,
  decodeBody,
  decodeCreateTopicReply,
  decodeGetTopicReply,
  decodeGetTopicsReply,
  encodeCreatePartitions,
  encodeCreateTopic,
  encodeDeletePartitions,
  encodeDeleteSegments,
  encodeDeleteTopic,
  encodeGetTopic,
  encodeGetTopics,
  encodePurgeTopic,
  encodeUpdateTopic,
  type TopicDetails,
} from "@millrace/protocol";
import { type CreateTopicRequest, Millrace, type UpdateTopicRequest } from "./millrace-proto.table.ts";
import { partitionMessage, topicMessage } from "./proto-objects.ts";
import { ask, type UnaryMethod, unaryMethod } from "./unary-method.ts";
import { optionsOf, streamOf, topicOf } from "./wire-values.ts";

const { method } = Millrace;

/** Topics and their partitions. */
export const topicMethods: readonly UnaryMethod[] = [
  unaryMethod(method.createTopic, async (call, request) => {
    const { partitionsCount } = request;
    const topic = { ...streamOf(request), partitionsCount, ...settingsOf(request) };
    const reply = await ask(call, "CreateTopic", encodeCreateTopic, topic);
    return topicWithPartitions(decodeBody(decodeCreateTopicReply, reply));
  }),
  unaryMethod(method.getTopic, async (call, request) => {
    const reply = await ask(call, "GetTopic", encodeGetTopic, topicOf(request));
    const topic = decodeBody(decodeGetTopicReply, reply);
    if (topic === undefined) throw new CodedError(ErrorCode.TopicIdNotFound);
    return topicWithPartitions(topic);
  }),
  unaryMethod(method.listTopics, async (call, request) => {
    const reply = await ask(call, "GetTopics", encodeGetTopics, streamOf(request));
    return { topics: decodeBody(decodeGetTopicsReply, reply).map(topicMessage) };
  }),
  unaryMethod(method.updateTopic, async (call, request) => {
    await ask(call, "UpdateTopic", encodeUpdateTopic, { ...topicOf(request), ...settingsOf(request) });
    return {};
  }),
  unaryMethod(method.deleteTopic, async (call, request) => {
    await ask(call, "DeleteTopic", encodeDeleteTopic, topicOf(request));
    return {};
  }),
  unaryMethod(method.purgeTopic, async (call, request) => {
    await ask(call, "PurgeTopic", encodePurgeTopic, topicOf(request));
    return {};
  }),
  unaryMethod(method.createPartitions, async (call, request) => {
    const { partitionsCount } = request;
    await ask(call, "CreatePartitions", encodeCreatePartitions, { ...topicOf(request), partitionsCount });
    return {};
  }),
  unaryMethod(method.deletePartitions, async (call, request) => {
    const { partitionsCount } = request;
    await ask(call, "DeletePartitions", encodeDeletePartitions, { ...topicOf(request), partitionsCount });
    return {};
  }),
  unaryMethod(method.deleteSegments, async (call, request) => {
    const { partitionId, segmentsCount } = request;
    const segments = { ...topicOf(request), partitionId, segmentsCount };
    await ask(call, "DeleteSegments", encodeDeleteSegments, segments);
    return {};
  }),
];

function settingsOf(request: CreateTopicRequest | UpdateTopicRequest) {
  const { name, options, messageExpiry, maxTopicSize } = request;
  checkName(name, ErrorCode.InvalidTopicName);
  return {
    name,
    options: optionsOf(options, { message_expiry: messageExpiry, max_topic_size: maxTopicSize }),
  };
}

function topicWithPartitions(topic: TopicDetails) {
  return { topic: topicMessage(topic), partitions: topic.partitions.map(partitionMessage) };
}
