import { decodeWith, encodeWith } from "../body-codec.ts";
import { readTopicTarget, type TopicTarget, writeTopicTarget } from "./topic-target.ts";

/** Deletes the messages of a topic and keeps its partitions. The reply has no payload. */
export type PurgeTopic = TopicTarget;

/** The body of a PurgeTopic request. */
export function encodePurgeTopic(body: PurgeTopic): Uint8Array {
  return encodeWith(writeTopicTarget, body);
}

/** The counterpart of `encodePurgeTopic`; throws WireError. */
export function decodePurgeTopic(bytes: Uint8Array): PurgeTopic {
  return decodeWith(readTopicTarget, bytes);
}
