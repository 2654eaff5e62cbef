import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeUpdateUser } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requireUser } from "../catalog/targets.ts";
import { ROOT_USER_ID, UserStatus } from "../catalog/user.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { requireGrant } from "../permissions/may.ts";
import { checkUserName } from "./user-name.ts";

/**
 * Renames a user, or lets him log in or not. What the request leaves out stays.
 *
 * Ours: root cannot be made inactive, for nobody might be left who can undo it.
 * @throws CodedError ResourceNotFound, Unauthorized, CannotChangePermissions (root to inactive),
 *         InvalidUsername, UserAlreadyExists
 */
export function updateUser(catalog: Catalog, op: CommittedOp): ApplyResult {
  const request = decodeUpdateUser(op.body);
  const user = requireUser(catalog, request.user);
  requireGrant(catalog, op.user, "manage-users");
  if (user.id === ROOT_USER_ID && request.status === "inactive") {
    throw new CodedError(ErrorCode.CannotChangePermissions, "Root cannot be made inactive.");
  }
  const name = request.username ?? user.name;
  if (request.username !== undefined) checkUserName(catalog, name, user.id);
  const status = request.status === undefined ? user.status : UserStatus[request.status];
  catalog.users.replace({ ...user, name, status });
  return success([{ kind: "user-changed", user: user.id }]);
}
