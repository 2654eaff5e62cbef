import type { OptionValues, TopicDetails } from "@millrace/client";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { Client } from "../../connection/client.ts";
import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { properties, rows } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { PARTITION_FIELDS, TOPIC_FIELDS, TOPIC_OPTION_FIELDS, type TopicOption } from "./fields.ts";
import { retentionResult } from "./retention.ts";

/** `millrace topic get STREAM TOPIC` */
export const addTopicGet: AddCommand = (parent, run) => {
  leaf(parent, {
    name: "get",
    alias: "g",
    summary: "show a topic, its partitions, what leaves them and what is held back",
  })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .action(
      run(async ({ client }, streamId: number | string, topicId: number | string) => {
        const server = await client();
        const topic = await getTopic(server, streamId, topicId);
        return properties(TOPIC_FIELDS, topic, {
          partitions: rows(PARTITION_FIELDS, topic.partitions, "The topic has no partitions."),
          retention: await retentionResult(server, { stream: streamId, topic: topicId }),
          options: rows(TOPIC_OPTION_FIELDS, optionsOf(topic), "The topic has no options."),
        });
      }),
    );
};

/**
 * The topic, which must exist.
 * @throws CodedError StreamIdNotFound or TopicIdNotFound, whichever level is missing
 */
export async function getTopic(
  client: Client,
  streamId: number | string,
  topicId: number | string,
): Promise<TopicDetails> {
  const topic = await client.getTopic(streamId, topicId);
  if (topic !== undefined) return topic;
  if ((await client.getStream(streamId)) === undefined) {
    throw new CodedError(ErrorCode.StreamIdNotFound, `There is no stream ${describe(streamId)}.`);
  }
  const where = `in stream ${describe(streamId)}`;
  throw new CodedError(ErrorCode.TopicIdNotFound, `There is no topic ${describe(topicId)} ${where}.`);
}

function optionsOf(topic: TopicDetails): TopicOption[] {
  return [...listed(topic.options, true), ...listed(topic.derivedOptions, false)];
}

function listed(options: OptionValues, explicit: boolean): TopicOption[] {
  return Object.entries(options).map(([key, value]) => ({ key, value, explicit }));
}
