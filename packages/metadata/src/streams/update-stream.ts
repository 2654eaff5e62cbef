import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeUpdateStream } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requireStream } from "../catalog/targets.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { requireGrant } from "../permissions/may.ts";

/**
 * Renames a stream; its own name is fine.
 * @throws CodedError StreamIdNotFound, Unauthorized, StreamNameAlreadyExists
 */
export function updateStream(catalog: Catalog, op: CommittedOp): ApplyResult {
  const request = decodeUpdateStream(op.body);
  const stream = requireStream(catalog, request.stream);
  requireGrant(catalog, op.user, "manage-stream", { stream: stream.id });
  const namesake = catalog.streams.byName(request.name);
  if (namesake !== undefined && namesake.id !== stream.id)
    throw new CodedError(ErrorCode.StreamNameAlreadyExists);
  catalog.streams.replace({ ...stream, name: request.name });
  return success();
}
