import { decodeDeleteStream } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requireStream } from "../catalog/targets.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { forgetStreamRights } from "../permissions/forget-rights.ts";
import { requireGrant } from "../permissions/may.ts";
import { topicDeleted } from "../topics/delete-topic.ts";

/**
 * Deletes a stream, everything in it and the rights on it; id and name are free at once.
 * @throws CodedError StreamIdNotFound, Unauthorized
 */
export function deleteStream(catalog: Catalog, op: CommittedOp): ApplyResult {
  const stream = requireStream(catalog, decodeDeleteStream(op.body).stream);
  requireGrant(catalog, op.user, "manage-stream", { stream: stream.id });
  catalog.streams.remove(stream);
  forgetStreamRights(catalog, stream.id);
  return success(stream.topics.list().flatMap((topic) => topicDeleted(catalog, topic)));
}
