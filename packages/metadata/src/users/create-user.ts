import { CodedError, ErrorCode } from "@millrace/errors";
import { encodeCreateUserReply, NO_OPTIONS, USERS_MAX } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { type User, UserStatus } from "../catalog/user.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { requireGrant } from "../permissions/may.ts";
import { decodeCreateUserOp } from "./create-user-op.ts";
import { checkUserName } from "./user-name.ts";

/**
 * Creates a user under the lowest free id.
 * @throws CodedError Unauthorized, InvalidUsername, UserAlreadyExists, TooManyUsers
 */
export function createUser(catalog: Catalog, op: CommittedOp): ApplyResult {
  const request = decodeCreateUserOp(op.body);
  requireGrant(catalog, op.user, "manage-users");
  checkUserName(catalog, request.name);
  if (catalog.users.size >= USERS_MAX) {
    throw new CodedError(ErrorCode.TooManyUsers, `A server has ${USERS_MAX} users at most.`);
  }
  const user: User = {
    ...request,
    id: catalog.users.lowestFreeId(),
    createdAt: op.timestamp,
    revision: op.op,
    tokens: [],
  };
  catalog.users.add(user);
  const reply = encodeCreateUserReply({
    id: user.id,
    createdAt: user.createdAt,
    status: user.status === UserStatus.active ? "active" : "inactive",
    username: user.name,
    options: NO_OPTIONS,
    permissions: user.permissions,
  });
  return success([{ kind: "user-changed", user: user.id }], reply);
}
