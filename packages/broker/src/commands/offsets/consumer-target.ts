import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { type Consumer, consumerKey, type OffsetTarget } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { findGroup, findTopic } from "../../admission/find-target.ts";
import type { PartitionGroup } from "../../partition-plane/partition-group.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";

/** Kind of an individual consumer's offsets. */
export const CONSUMER_KIND = 1;

/** A partition and the number under which a consumer's offset is stored in it. */
export interface ConsumerPlace {
  readonly group: PartitionGroup;
  readonly consumerId: number;
}

/**
 * Finds the partition (0 when none is named) and the consumer of an offset command.
 *
 * Consumer groups cannot be created yet, so none exists: they answer 5000.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, PartitionNotFound, Unauthorized,
 *          ConsumerGroupIdNotFound
 */
export function findConsumer(shard: Shard, session: Session, target: OffsetTarget): ConsumerPlace {
  const { stream, topic } = findTopic(shard, target);
  const group = findGroup(shard, topic, target.partitionId ?? 0);
  checkPermission(shard, session, "poll", { stream: stream.id, topic: topic.id });
  return { group, consumerId: consumerId(shard, target.consumer) };
}

/** The number of an individual consumer. @throws CodedError ConsumerGroupIdNotFound for a group */
export function consumerId(shard: Shard, consumer: Consumer): number {
  if (consumer.kind === "consumer") return consumerKey(consumer.id, shard.keyHash);
  throw new CodedError(ErrorCode.ConsumerGroupIdNotFound, "The consumer group does not exist.");
}

/** Targets that offset writes name as one thing: whichever level missed, the code is 20. */
const TARGET_CODES = new Set<number>([
  ErrorCode.StreamIdNotFound,
  ErrorCode.TopicIdNotFound,
  ErrorCode.PartitionNotFound,
]);

/** Runs `find` and turns a target that is missing into ResourceNotFound, as offset writes answer it. */
export function targetAsResource<T>(find: () => T): T {
  try {
    return find();
  } catch (error) {
    if (!isCodedError(error) || !TARGET_CODES.has(error.code)) throw error;
    throw new CodedError(ErrorCode.ResourceNotFound, error.message, { cause: error });
  }
}
