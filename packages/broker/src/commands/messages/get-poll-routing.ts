import { CodedError, ErrorCode } from "@millrace/errors";
import {
  decodeBody,
  decodeGetConsumerOffset,
  decodePollMessages,
  encodePollRoutingReply,
} from "@millrace/protocol";
import { memberClientOf } from "../../consumer-groups/membership.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";
import { answering, type ReadCommand } from "../handler.ts";
import { type ConsumerPlace, findConsumer } from "../offsets/consumer-target.ts";

/**
 * Where a poll with auto-commit goes: clients of a cluster ask before the first one, and again after a 58.
 *
 * Codes: those of a poll, 58 while nobody leads the partition.
 */
export const getPollRouting = answering((shard, request, session) => {
  const found = findConsumer(shard, session, decodeBody(decodePollMessages, request.body));
  const routing = routingOf(shard, session, found);
  const { handle, consumer } = found;
  // What it is given there is known there alone.
  if (consumer.place !== undefined && !handle.isPrimary) {
    handle.polled.sentElsewhere(consumer.place.groupId, memberClientOf(session));
  }
  return routing;
});

/** The same for writes of offsets. */
export const getConsumerOffsetRouting = answering((shard, request, session) =>
  routingOf(shard, session, findConsumer(shard, session, decodeBody(decodeGetConsumerOffset, request.body))),
);

function routingOf(shard: Shard, session: Session, { handle }: ConsumerPlace): ReturnType<ReadCommand> {
  const primary = handle.primary === undefined ? undefined : shard.roster().nodes[handle.primary];
  if (primary === undefined) throw new CodedError(ErrorCode.TransientNotAccepted);
  const { client, session: number } = session;
  const consumerSession = { client, session: number, metadataWatermark: shard.metadata.commit };
  return encodePollRoutingReply({ consumerSession, primary });
}
