import { ErrorCode, isCodedError } from "@millrace/errors";
import { isWireError } from "@millrace/framing";
import type { Catalog } from "./catalog/catalog.ts";
import { type ApplyResult, type CommittedOp, rejection, success } from "./committed-op.ts";
import { completeConsumerGroupRevocation } from "./consumer-groups/complete-revocation.ts";
import { createConsumerGroup } from "./consumer-groups/create-group.ts";
import { deleteConsumerGroup } from "./consumer-groups/delete-group.ts";
import { joinConsumerGroup } from "./consumer-groups/join-group.ts";
import { logout, removeConsumerGroupMember } from "./consumer-groups/leave-all-groups.ts";
import { leaveConsumerGroup } from "./consumer-groups/leave-group.ts";
import { MetadataOperation } from "./operation.table.ts";
import { createPartitions } from "./partitions/create-partitions.ts";
import { deletePartitions } from "./partitions/delete-partitions.ts";
import { deleteSegments } from "./segments/delete-segments.ts";
import { createStream } from "./streams/create-stream.ts";
import { deleteStream } from "./streams/delete-stream.ts";
import { purgeStream } from "./streams/purge-stream.ts";
import { updateStream } from "./streams/update-stream.ts";
import { createToken } from "./tokens/create-token.ts";
import { deleteExpiredTokens } from "./tokens/delete-expired-tokens.ts";
import { deleteToken } from "./tokens/delete-token.ts";
import { createTopic } from "./topics/create-topic.ts";
import { deleteTopic } from "./topics/delete-topic.ts";
import { purgeTopic } from "./topics/purge-topic.ts";
import { updateTopic } from "./topics/update-topic.ts";
import { changePassword } from "./users/change-password.ts";
import { createRootUser } from "./users/create-root-user.ts";
import { createUser } from "./users/create-user.ts";
import { deleteUser } from "./users/delete-user.ts";
import { updatePermissions } from "./users/update-permissions.ts";
import { updateUser } from "./users/update-user.ts";

/** Checks everything first and throws a `CodedError` to reject; from its first change on it cannot fail. */
type Handler = (catalog: Catalog, op: CommittedOp) => ApplyResult;

/** Sessions are the client table's; the catalog only counts the op. */
const noChange: Handler = () => success();

const HANDLERS: ReadonlyMap<number, Handler> = new Map<number, Handler>([
  [MetadataOperation.register, noChange],
  [MetadataOperation.logout, logout],
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
  [MetadataOperation.createUser, createUser],
  [MetadataOperation.updateUser, updateUser],
  [MetadataOperation.deleteUser, deleteUser],
  [MetadataOperation.changePassword, changePassword],
  [MetadataOperation.updatePermissions, updatePermissions],
  [MetadataOperation.createPersonalAccessToken, createToken],
  [MetadataOperation.deletePersonalAccessToken, deleteToken],
  [MetadataOperation.createConsumerGroup, createConsumerGroup],
  [MetadataOperation.deleteConsumerGroup, deleteConsumerGroup],
  [MetadataOperation.joinConsumerGroup, joinConsumerGroup],
  [MetadataOperation.leaveConsumerGroup, leaveConsumerGroup],
  [MetadataOperation.removeConsumerGroupMember, removeConsumerGroupMember],
  [MetadataOperation.completeConsumerGroupRevocation, completeConsumerGroupRevocation],
  [MetadataOperation.createRootUser, createRootUser],
  [MetadataOperation.deleteExpiredTokens, deleteExpiredTokens],
]);

/**
 * Applies one committed op: deterministic and total.
 *
 * Whatever the op holds, it comes to a result: a rejected one has its code and changes nothing. An op that
 * was applied before is rejected with RequestAlreadyApplied, an unknown operation with FeatureUnavailable, an
 * undecodable body with InvalidCommand, an op of a session that is older than its user with Unauthorized.
 */
export function apply(catalog: Catalog, op: CommittedOp): ApplyResult {
  if (op.op <= catalog.appliedOp) return rejection(ErrorCode.RequestAlreadyApplied);
  catalog.appliedOp = op.op;
  const handler = HANDLERS.get(op.operation);
  if (handler === undefined) return rejection(ErrorCode.FeatureUnavailable);
  if (isFormerUsers(catalog, op)) return rejection(ErrorCode.Unauthorized);
  try {
    return handler(catalog, op);
  } catch (error) {
    if (isCodedError(error)) return rejection(error.code);
    if (isWireError(error)) return rejection(ErrorCode.InvalidCommand);
    throw error;
  }
}

/** True for an op of a user who was deleted and whose id another one has now: it must not act as that one. */
function isFormerUsers(catalog: Catalog, { user, session = 0 }: CommittedOp): boolean {
  const now = catalog.users.byId(user);
  return session !== 0 && now !== undefined && now.revision > session;
}
