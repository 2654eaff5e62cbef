import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeDeleteUser } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requireUser } from "../catalog/targets.ts";
import { ROOT_USER_ID } from "../catalog/user.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { requireGrant } from "../permissions/may.ts";

/**
 * Deletes a user and his tokens.
 * @throws CodedError ResourceNotFound, Unauthorized, CannotDeleteUser for root
 */
export function deleteUser(catalog: Catalog, op: CommittedOp): ApplyResult {
  const user = requireUser(catalog, decodeDeleteUser(op.body).user);
  requireGrant(catalog, op.user, "manage-users");
  if (user.id === ROOT_USER_ID) throw new CodedError(ErrorCode.CannotDeleteUser);
  catalog.users.remove(user);
  return success([{ kind: "user-changed", user: user.id }]);
}
