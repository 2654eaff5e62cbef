import { ByteReader } from "@millrace/framing";
import { encodeWith } from "../body-codec.ts";
import { readTopicTarget, type TopicTarget, writeTopicTarget } from "./topic-target.ts";

/** Deletes a topic with everything in it. The reply has no payload. */
export type DeleteTopic = TopicTarget;

/** The official Node SDK ends this body with a u32 that the protocol does not define. */
const STRAY_LENGTH = 4;

/** The body of a DeleteTopic request. */
export function encodeDeleteTopic(body: DeleteTopic): Uint8Array {
  return encodeWith(writeTopicTarget, body);
}

/**
 * The counterpart of `encodeDeleteTopic`. Four more bytes are let pass, see above.
 *
 * @throws WireError, `trailing_bytes` for any other rest
 */
export function decodeDeleteTopic(bytes: Uint8Array): DeleteTopic {
  const reader = new ByteReader(bytes);
  const target = readTopicTarget(reader);
  if (reader.remaining === STRAY_LENGTH) reader.skip(STRAY_LENGTH);
  reader.finish();
  return target;
}
