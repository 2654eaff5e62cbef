import { CodedError, ErrorCode } from "@millrace/errors";
import { type Identifier, identifierText } from "@millrace/protocol";
import type { Catalog } from "./catalog.ts";
import type { Partition } from "./partition.ts";
import type { StreamEntry } from "./stream.ts";
import { findPartition, type Topic } from "./topic.ts";
import type { User } from "./user.ts";

/** A topic together with the stream it is in. */
export interface TopicPlace {
  readonly stream: StreamEntry;
  readonly topic: Topic;
}

/**
 * The stream.
 * @throws CodedError StreamIdNotFound
 */
export function requireStream(catalog: Catalog, identifier: Identifier): StreamEntry {
  const stream = catalog.streams.find(identifier);
  if (stream !== undefined) return stream;
  throw missing(ErrorCode.StreamIdNotFound, `Stream ${identifierText(identifier)} does not exist.`);
}

/**
 * The topic and its stream.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound: the level that missed
 */
export function requireTopic(
  catalog: Catalog,
  target: { readonly stream: Identifier; readonly topic: Identifier },
): TopicPlace {
  const stream = requireStream(catalog, target.stream);
  const topic = stream.topics.find(target.topic);
  if (topic !== undefined) return { stream, topic };
  const text = `Topic ${identifierText(target.topic)} does not exist in stream ${stream.id}.`;
  throw missing(ErrorCode.TopicIdNotFound, text);
}

/**
 * The partition.
 * @throws CodedError PartitionNotFound
 */
export function requirePartition(topic: Topic, partitionId: number): Partition {
  const partition = findPartition(topic, partitionId);
  if (partition !== undefined) return partition;
  throw missing(ErrorCode.PartitionNotFound, `Partition ${partitionId} does not exist in topic ${topic.id}.`);
}

/**
 * The user.
 * @throws CodedError ResourceNotFound
 */
export function requireUser(catalog: Catalog, identifier: Identifier): User {
  const user = catalog.users.find(identifier);
  if (user !== undefined) return user;
  throw missing(ErrorCode.ResourceNotFound, `User ${identifierText(identifier)} does not exist.`);
}

function missing(code: number, text: string): CodedError {
  return new CodedError(code, text);
}
