import { decodePurgeStream } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requireStream } from "../catalog/targets.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { requireGrant } from "../permissions/may.ts";
import { purgeOne } from "../topics/purge-topic.ts";

/**
 * Purges every topic of a stream.
 * @throws CodedError StreamIdNotFound, Unauthorized
 */
export function purgeStream(catalog: Catalog, op: CommittedOp): ApplyResult {
  const stream = requireStream(catalog, decodePurgeStream(op.body).stream);
  requireGrant(catalog, op.user, "manage-stream", { stream: stream.id });
  return success(stream.topics.list().flatMap((topic) => purgeOne(stream, topic, op.op)));
}
