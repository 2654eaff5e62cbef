import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";
import type { Identifier } from "../identifier.ts";
import { readTopicTarget, writeTopicTarget } from "../topics/topic-target.ts";
import { type GroupDetails, readGroupDetails, writeGroupDetails } from "./group-record.ts";

/** Creates a consumer group without members; the creator does not join. */
export interface CreateConsumerGroup {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly name: string;
}

/** Shape: stream identifier, topic identifier, name. */
export function encodeCreateConsumerGroup(body: CreateConsumerGroup): Uint8Array {
  return encodeWith(writeCreateConsumerGroup, body);
}

/** The counterpart of `encodeCreateConsumerGroup`; throws WireError. */
export function decodeCreateConsumerGroup(bytes: Uint8Array): CreateConsumerGroup {
  return decodeWith(readCreateConsumerGroup, bytes);
}

/** The created group. */
export function encodeCreateConsumerGroupReply(group: GroupDetails): Uint8Array {
  return encodeWith(writeGroupDetails, group);
}

/** The counterpart of `encodeCreateConsumerGroupReply`; throws WireError. */
export function decodeCreateConsumerGroupReply(payload: Uint8Array): GroupDetails {
  return decodeWith(readGroupDetails, payload);
}

function writeCreateConsumerGroup(writer: ByteWriter, body: CreateConsumerGroup): void {
  writeTopicTarget(writer, body);
  writer.name(body.name);
}

function readCreateConsumerGroup(reader: ByteReader): CreateConsumerGroup {
  return { ...readTopicTarget(reader), name: reader.name() };
}
