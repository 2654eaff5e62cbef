import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeCreateStream, encodeCreateStreamReply, STREAMS_MAX } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { NamedSet } from "../catalog/named-set.ts";
import type { Topic } from "../catalog/topic.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { requireGrant } from "../permissions/may.ts";

/**
 * Creates a stream under the lowest free id.
 * @throws CodedError Unauthorized, StreamNameAlreadyExists, TooManyStreams
 */
export function createStream(catalog: Catalog, op: CommittedOp): ApplyResult {
  const { name } = decodeCreateStream(op.body);
  requireGrant(catalog, op.user, "create-stream");
  if (catalog.streams.byName(name) !== undefined) throw new CodedError(ErrorCode.StreamNameAlreadyExists);
  if (catalog.streams.size >= STREAMS_MAX) throw new CodedError(ErrorCode.TooManyStreams);
  const id = catalog.streams.lowestFreeId();
  catalog.streams.add({ id, name, createdAt: op.timestamp, revision: op.op, topics: new NamedSet<Topic>() });
  const empty = { topicsCount: 0, byteLength: 0, messagesCount: 0, options: [], topics: [] };
  return success([], encodeCreateStreamReply({ id, name, createdAt: op.timestamp, ...empty }));
}
