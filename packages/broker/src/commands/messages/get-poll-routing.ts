import { CodedError, ErrorCode } from "@millrace/errors";
import {
  decodeBody,
  decodeGetConsumerOffset,
  decodePollMessages,
  encodePollRoutingReply,
  type OffsetTarget,
} from "@millrace/protocol";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";
import { answering, type ReadCommand } from "../handler.ts";
import { findConsumer } from "../offsets/consumer-target.ts";

/**
 * Where a poll with auto-commit goes: clients of a cluster ask before the first one, and again after a 58.
 *
 * Codes: those of a poll, 58 while nobody leads the partition.
 */
export const getPollRouting = answering((shard, request, session) =>
  routingOf(shard, session, decodeBody(decodePollMessages, request.body)),
);

/** The same for writes of offsets. */
export const getConsumerOffsetRouting = answering((shard, request, session) =>
  routingOf(shard, session, decodeBody(decodeGetConsumerOffset, request.body)),
);

function routingOf(shard: Shard, session: Session, target: OffsetTarget): ReturnType<ReadCommand> {
  const { handle } = findConsumer(shard, session, target);
  const primary = handle.primary === undefined ? undefined : shard.roster().nodes[handle.primary];
  if (primary === undefined) throw new CodedError(ErrorCode.TransientNotAccepted);
  const { client, session: number } = session;
  const consumerSession = { client, session: number, metadataWatermark: shard.metadata.commit };
  return encodePollRoutingReply({ consumerSession, primary });
}
