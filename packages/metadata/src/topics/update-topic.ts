import { CodedError, ErrorCode } from "@millrace/errors";
import type { Catalog } from "../catalog/catalog.ts";
import { requireTopic } from "../catalog/targets.ts";
import type { Topic } from "../catalog/topic.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { type OptionMap, optionMap } from "../options/option-map.ts";
import { UNLIMITED } from "../options/parse-value.ts";
import { requireGrant } from "../permissions/may.ts";
import { decodeUpdateTopicOp } from "./update-topic-op.ts";

/**
 * Renames a topic and changes the options that were sent; they become explicit.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, Unauthorized, TopicNameAlreadyExists, and
 *         InvalidOptionValue for a size limit below the topic's own segment size
 */
export function updateTopic(catalog: Catalog, op: CommittedOp): ApplyResult {
  const request = decodeUpdateTopicOp(op.body);
  const { stream, topic } = requireTopic(catalog, request);
  requireGrant(catalog, op.user, "manage-topic", { stream: stream.id, topic: topic.id });
  const namesake = stream.topics.byName(request.name);
  if (namesake !== undefined && namesake.id !== topic.id)
    throw new CodedError(ErrorCode.TopicNameAlreadyExists);
  const { maxTopicSize = UNLIMITED } = request.change;
  if (maxTopicSize < topic.segmentSize) throw new CodedError(ErrorCode.InvalidOptionValue);
  const options = patchedOptions(topic, request.options);
  stream.topics.replace({ ...topic, ...options, ...request.change, name: request.name });
  return success();
}

function patchedOptions(topic: Topic, sent: OptionMap): Pick<Topic, "explicitOptions" | "derivedOptions"> {
  return {
    explicitOptions: optionMap([...new Map([...topic.explicitOptions, ...sent])]),
    derivedOptions: optionMap([...topic.derivedOptions].filter(([key]) => !sent.has(key))),
  };
}
