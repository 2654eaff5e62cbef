import { CodedError, ErrorCode } from "@millrace/errors";
import {
  decodeBody,
  decodeCreateTopicReply,
  decodeGetTopicReply,
  decodeGetTopicRetentionReply,
  decodeGetTopicsReply,
  encodeCreateTopic,
  encodeDeleteTopic,
  encodeGetTopic,
  encodeGetTopicRetention,
  encodeGetTopics,
  encodePurgeTopic,
  encodeUpdateTopic,
  RETENTION_PARTITIONS_MAX,
} from "@millrace/protocol";
import { notFound } from "../../errors/http-error.ts";
import { Fields } from "../../json/fields.ts";
import { topicRetentionJson } from "../../objects/retention-json.ts";
import { topicDetailsJson, topicJson } from "../../objects/topic-json.ts";
import { schema } from "../openapi/schemas.table.ts";
import { namingOption } from "./option-faults.ts";
import { topicOptionsOf } from "./options-of.ts";
import type { Route } from "./route.ts";
import { streamOf, topicOf } from "./targets.ts";

const tag = "topics";
const COMPRESSION = { none: "none", gzip: "gzip" } as const;
const NEEDED = ["name", "partitions_count", "compression_algorithm", "message_expiry", "max_topic_size"];

/** Topics. */
export const topicRoutes: readonly Route[] = [
  {
    method: "GET",
    url: "/streams/:stream_id/topics",
    tag,
    summary: "All topics of a stream",
    status: 200,
    answer: schema.listOf(schema.topic),
    async handle(call) {
      const reply = await call.session.ask("GetTopics", encodeGetTopics(streamOf(call)));
      return decodeBody(decodeGetTopicsReply, reply).map(topicJson);
    },
  },
  {
    method: "POST",
    url: "/streams/:stream_id/topics",
    tag,
    summary: "Creates a topic",
    status: 200,
    body: schema.object({ ...schema.topicSettings, partitions_count: schema.u32 }, NEEDED),
    answer: schema.topicDetails,
    async handle(call) {
      const fields = Fields.ofBody(call.body);
      fields.choice("compression_algorithm", COMPRESSION);
      fields.u64("message_expiry");
      fields.u64("max_topic_size");
      const partitionsCount = fields.u32("partitions_count");
      const topic = readTopic(fields);
      const request = encodeCreateTopic({ ...streamOf(call), partitionsCount, ...topic });
      const asked = call.session.ask("CreateTopic", request);
      const check = () => call.optionChecks.createTopic(topic.options, partitionsCount);
      return topicDetailsJson(decodeBody(decodeCreateTopicReply, await namingOption(asked, fields, check)));
    },
  },
  {
    method: "GET",
    url: "/streams/:stream_id/topics/:topic_id",
    tag,
    summary: "A topic with its partitions",
    status: 200,
    answer: schema.topicDetails,
    async handle(call) {
      const reply = await call.session.ask("GetTopic", encodeGetTopic(topicOf(call)));
      const topic = decodeBody(decodeGetTopicReply, reply);
      if (topic === undefined) throw notFound();
      return topicDetailsJson(topic);
    },
  },
  {
    method: "GET",
    url: "/streams/:stream_id/topics/:topic_id/retention",
    tag,
    summary: "What age, size and stored offsets do to the partitions of a topic, 1000 of them at most",
    status: 200,
    query: { first_partition_id: schema.u32, partitions_count: schema.u32 },
    answer: schema.topicRetention,
    async handle(call) {
      const firstPartitionId = call.query.u32("first_partition_id", 0);
      const partitionsCount = call.query.u32("partitions_count", RETENTION_PARTITIONS_MAX);
      const request = encodeGetTopicRetention({ ...topicOf(call), firstPartitionId, partitionsCount });
      const reply = await call.session.ask("GetTopicRetention", request);
      return topicRetentionJson(decodeBody(decodeGetTopicRetentionReply, reply));
    },
  },
  {
    method: "PUT",
    url: "/streams/:stream_id/topics/:topic_id",
    tag,
    summary: "Changes a topic; what is left out stays as it is",
    status: 204,
    body: schema.object(schema.topicSettings, ["name"]),
    async handle(call) {
      const fields = Fields.ofBody(call.body);
      if (fields.has("compression_algorithm")) fields.choice("compression_algorithm", COMPRESSION);
      const topic = readTopic(fields);
      const asked = call.session.ask("UpdateTopic", encodeUpdateTopic({ ...topicOf(call), ...topic }));
      await namingOption(asked, fields, () => {
        call.optionChecks.updateTopic(topic.options);
        throw tooSmall();
      });
      return undefined;
    },
  },
  {
    method: "DELETE",
    url: "/streams/:stream_id/topics/:topic_id",
    tag,
    summary: "Deletes a topic and everything in it",
    status: 204,
    async handle(call) {
      await call.session.ask("DeleteTopic", encodeDeleteTopic(topicOf(call)));
      return undefined;
    },
  },
  {
    method: "DELETE",
    url: "/streams/:stream_id/topics/:topic_id/purge",
    tag,
    summary: "Deletes every message of a topic",
    status: 204,
    async handle(call) {
      await call.session.ask("PurgeTopic", encodePurgeTopic(topicOf(call)));
      return undefined;
    },
  },
];

/** Options that are good by themselves are refused for one reason: what the topic has is longer. */
function tooSmall(): CodedError {
  const reason = "max_topic_size is smaller than the topic's segment_size.";
  return new CodedError(ErrorCode.InvalidOptionValue, reason, { details: { key: "max_topic_size" } });
}

function readTopic(fields: Fields) {
  const name = fields.name("name", ErrorCode.InvalidTopicName);
  return { name, options: topicOptionsOf(fields) };
}
