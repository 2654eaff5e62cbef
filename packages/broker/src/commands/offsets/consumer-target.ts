import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { type GroupPlace, ownerOf, type Topic } from "@millrace/metadata";
import { type Consumer, consumerKey, type OffsetTarget } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { findHandle, findTopic } from "../../admission/find-target.ts";
import { GROUP_KIND } from "../../consumer-groups/group-kind.ts";
import { placeOf, requireConsumerGroup, rightOf } from "../../consumer-groups/membership.ts";
import type { ClientOp, OffsetKey, PartitionHandle } from "../../partition-plane/partition-handle.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";

/** Kind of an individual consumer's offsets. */
const CONSUMER_KIND = 1;

/** Under which kind and number a partition stores a consumer's offset. */
export interface ConsumerKey extends OffsetKey {
  /** The consumer group this is about; nothing for an individual consumer. */
  readonly place: GroupPlace | undefined;
}

/** A partition and a consumer of it. */
export interface ConsumerPlace {
  readonly handle: PartitionHandle;
  readonly consumer: ConsumerKey;
}

/**
 * Finds the partition (0 when none is named) and the consumer of an offset command.
 *
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, PartitionNotFound, ConsumerGroupIdNotFound,
 *          Unauthorized
 */
export function findConsumer(shard: Shard, session: Session, target: OffsetTarget): ConsumerPlace {
  const { stream, topic } = findTopic(shard, target);
  const handle = findHandle(shard, topic, target.partitionId ?? 0);
  const consumer = consumerKeyOf(shard, topic, target.consumer);
  checkPermission(shard, session, "poll", { stream: stream.id, topic: topic.id });
  return { handle, consumer };
}

/** Where the offsets of a consumer are kept. @throws CodedError ConsumerGroupIdNotFound */
export function consumerKeyOf(shard: Shard, topic: Topic, consumer: Consumer): ConsumerKey {
  if (consumer.kind === "consumer") {
    return { kind: CONSUMER_KIND, id: consumerKey(consumer.id, shard.keyHash), place: undefined };
  }
  const group = requireConsumerGroup(shard, topic, consumer.id);
  return { kind: GROUP_KIND, id: group.id, place: placeOf(topic, group) };
}

/** Whether a session may write the offset of a consumer. @throws CodedError ResourceNotFound */
export type CheckWriter = (shard: Shard, session: Session, place: ConsumerPlace) => void;

/**
 * Finds what an offset write is about. A group's offset names the partition.
 *
 * @throws CodedError ResourceNotFound for a target that does not exist, whichever level missed, and what
 *          `check` throws; Unauthorized, ConsumerGroupIdNotFound
 */
export function findWritableConsumer(
  shard: Shard,
  session: Session,
  target: OffsetTarget,
  check: CheckWriter,
): ConsumerPlace {
  const found = targetAsResource(() => findConsumer(shard, session, target));
  check(shard, session, found);
  if (target.consumer.kind === "group" && target.partitionId === undefined) {
    throw new CodedError(ErrorCode.ResourceNotFound, "An offset of a group names its partition.");
  }
  return found;
}

/**
 * Checks that a group's session may commit: the member that owns the partition, also while it is being
 * revoked.
 */
export const checkOwner: CheckWriter = (shard, session, { handle, consumer }) => {
  const { place } = consumer;
  const { partitionId } = handle.identity;
  if (place === undefined || rightOf(shard, session, place, partitionId) !== "none") return;
  throw new CodedError(
    ErrorCode.ResourceNotFound,
    `The client does not own partition ${partitionId} in its group.`,
  );
};

/**
 * Checks that a session may make a group forget its offset: who may commit, and anybody while no member owns
 * the partition, so that a group that nobody runs any more does not keep messages for ever.
 */
export const checkOwnerOrAbandoned: CheckWriter = (shard, session, found) => {
  const { place } = found.consumer;
  const consumerGroup = place && shard.catalog.findGroup(place);
  if (consumerGroup !== undefined && ownerOf(consumerGroup, found.handle.identity.partitionId) === undefined)
    return;
  checkOwner(shard, session, found);
};

/**
 * Code with which a write is refused when `check` does, or nothing: for what was found to be right
 * before.
 */
export function refusalOf(
  check: CheckWriter,
  shard: Shard,
  session: Session,
  found: ConsumerPlace,
): number | undefined {
  try {
    check(shard, session, found);
    return undefined;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return error.code;
  }
}

/** An outcome that in addition tells a group's hand-overs of the partition that something was stored. */
export function settledAfter(
  shard: Shard,
  { handle, consumer: { place } }: ConsumerPlace,
  { committed, failed }: Pick<ClientOp, "committed" | "failed">,
): Pick<ClientOp, "committed" | "failed"> {
  if (place === undefined) return { committed, failed };
  const settled = () => shard.groups.settled(place, handle.identity.partitionId);
  return {
    committed(result) {
      committed(result);
      settled();
    },
    failed(code) {
      failed(code);
      settled();
    },
  };
}

/** Targets that offset writes name as one thing: whichever level missed, the code is 20. */
const TARGET_CODES = new Set<number>([
  ErrorCode.StreamIdNotFound,
  ErrorCode.TopicIdNotFound,
  ErrorCode.PartitionNotFound,
]);

function targetAsResource<T>(find: () => T): T {
  try {
    return find();
  } catch (error) {
    if (!isCodedError(error) || !TARGET_CODES.has(error.code)) throw error;
    throw new CodedError(ErrorCode.ResourceNotFound, error.message, { cause: error });
  }
}
