import { decodeOptionalWith, decodeWith, encodeOptionalWith, encodeWith } from "../body-codec.ts";
import { readTopicDetails, type TopicDetails, writeTopicDetails } from "./topic-record.ts";
import { readTopicTarget, type TopicTarget, writeTopicTarget } from "./topic-target.ts";

/** Asks for one topic and its partitions. */
export type GetTopic = TopicTarget;

/** The body of a GetTopic request. */
export function encodeGetTopic(body: GetTopic): Uint8Array {
  return encodeWith(writeTopicTarget, body);
}

/** The counterpart of `encodeGetTopic`; throws WireError. */
export function decodeGetTopic(bytes: Uint8Array): GetTopic {
  return decodeWith(readTopicTarget, bytes);
}

/** The topic and its partitions; empty when stream or topic is absent. */
export function encodeGetTopicReply(topic: TopicDetails | undefined): Uint8Array {
  return encodeOptionalWith(writeTopicDetails, topic);
}

/** The counterpart of `encodeGetTopicReply`. Option values are views of `payload`. */
export function decodeGetTopicReply(payload: Uint8Array): TopicDetails | undefined {
  return decodeOptionalWith(readTopicDetails, payload);
}
