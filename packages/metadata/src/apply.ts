import { ErrorCode, isCodedError } from "@millrace/errors";
import { isWireError } from "@millrace/framing";
import type { Catalog } from "./catalog/catalog.ts";
import { type ApplyResult, type CommittedOp, rejection, success } from "./committed-op.ts";
import { MetadataOperation } from "./operation.table.ts";
import { createPartitions } from "./partitions/create-partitions.ts";
import { deletePartitions } from "./partitions/delete-partitions.ts";
import { deleteSegments } from "./segments/delete-segments.ts";
import { createStream } from "./streams/create-stream.ts";
import { deleteStream } from "./streams/delete-stream.ts";
import { purgeStream } from "./streams/purge-stream.ts";
import { updateStream } from "./streams/update-stream.ts";
import { createTopic } from "./topics/create-topic.ts";
import { deleteTopic } from "./topics/delete-topic.ts";
import { purgeTopic } from "./topics/purge-topic.ts";
import { updateTopic } from "./topics/update-topic.ts";
import { createRootUser } from "./users/create-root-user.ts";

/** Checks everything first and throws a `CodedError` to reject; from its first change on it cannot fail. */
type Handler = (catalog: Catalog, op: CommittedOp) => ApplyResult;

/** Sessions are the client table's; the catalog only counts the op. */
const noChange: Handler = () => success();

const HANDLERS: ReadonlyMap<number, Handler> = new Map<number, Handler>([
  [MetadataOperation.register, noChange],
  [MetadataOperation.logout, noChange],
  [MetadataOperation.createStream, createStream],
  [MetadataOperation.updateStream, updateStream],
  [MetadataOperation.deleteStream, deleteStream],
  [MetadataOperation.purgeStream, purgeStream],
  [MetadataOperation.createTopic, createTopic],
  [MetadataOperation.updateTopic, updateTopic],
  [MetadataOperation.deleteTopic, deleteTopic],
  [MetadataOperation.purgeTopic, purgeTopic],
  [MetadataOperation.createPartitions, createPartitions],
  [MetadataOperation.deletePartitions, deletePartitions],
  [MetadataOperation.truncatePartition, deleteSegments],
  [MetadataOperation.createRootUser, createRootUser],
]);

/**
 * Applies one committed op: deterministic and total.
 *
 * Whatever the op holds, it comes to a result: a rejected one has its code and changes nothing. An op that
 * was applied before is rejected with RequestAlreadyApplied, an unknown operation with FeatureUnavailable, an
 * undecodable body with InvalidCommand.
 */
export function apply(catalog: Catalog, op: CommittedOp): ApplyResult {
  if (op.op <= catalog.appliedOp) return rejection(ErrorCode.RequestAlreadyApplied);
  catalog.appliedOp = op.op;
  const handler = HANDLERS.get(op.operation);
  if (handler === undefined) return rejection(ErrorCode.FeatureUnavailable);
  try {
    return handler(catalog, op);
  } catch (error) {
    if (isCodedError(error)) return rejection(error.code);
    if (isWireError(error)) return rejection(ErrorCode.InvalidCommand);
    throw error;
  }
}
