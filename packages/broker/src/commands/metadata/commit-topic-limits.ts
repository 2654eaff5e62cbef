import { admitRequest } from "@millrace/metadata";
import {
  decodeBody,
  decodeCreatePartitions,
  decodeCreateTopic,
  decodeUpdateTopic,
  type TopicTarget,
  toIdentifier,
} from "@millrace/protocol";
import { retentionPolicy } from "../../retention/retention-policy.ts";
import type { Shard } from "../../shard.ts";
import type { Handler } from "../handler.ts";
import { answerMetadata, isNewSuccess, metadataRequest } from "./commit-metadata.ts";

/**
 * A change of the catalog after which the size limit of a topic may be less than its partitions hold at
 * least. Such a limit is legal; what it comes to is told in the log.
 *
 * @param topicOf  the topic as it is named once the change is made
 * @see server-semantics sections 2 and 6
 */
function commitTopicLimits(topicOf: (body: Uint8Array) => TopicTarget): Handler {
  return (shard, request, session) => {
    const { operation, body } = admitRequest(request.operation, request.body, shard.config);
    const target = decodeBody(topicOf, request.body);
    shard.metadata.submit({
      ...metadataRequest(request, session),
      operation,
      body: body.slice(),
      answered(answer) {
        if (isNewSuccess(answer)) warnOfRaisedBudget(shard, target);
        answerMetadata(shard, request, answer, operation);
      },
    });
  };
}

function warnOfRaisedBudget(shard: Shard, target: TopicTarget): void {
  const stream = shard.catalog.findStream(target.stream);
  const topic = stream && shard.catalog.findTopic(stream, target.topic);
  if (topic === undefined) return;
  const { sealedLengthMax, isBudgetRaised } = retentionPolicy(topic, shard.config.messageLengthMax);
  if (!isBudgetRaised) return;
  shard.platform.log.warn("The size limit of a topic is less than its partitions hold at least.", {
    streamId: topic.streamId,
    topicId: topic.id,
    maxTopicSize: topic.maxTopicSize,
    partitions: topic.partitions.length,
    bytesPerPartition: sealedLengthMax,
  });
}

/** Creates a topic. */
export const createTopic = commitTopicLimits((body) => {
  const { stream, name } = decodeCreateTopic(body);
  return { stream, topic: toIdentifier(name) };
});

/** Renames a topic and changes its options. */
export const updateTopic = commitTopicLimits((body) => {
  const { stream, name } = decodeUpdateTopic(body);
  return { stream, topic: toIdentifier(name) };
});

/** Adds partitions to a topic, whose shares of its size become smaller. */
export const createPartitions = commitTopicLimits((body) => {
  const { stream, topic } = decodeCreatePartitions(body);
  return { stream, topic };
});
