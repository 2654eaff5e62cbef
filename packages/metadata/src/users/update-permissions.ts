import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeUpdatePermissions } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requireUser } from "../catalog/targets.ts";
import { ROOT_USER_ID } from "../catalog/user.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { requireGrant } from "../permissions/may.ts";

/**
 * Replaces everything a user may do; the next request of his sessions is judged by it.
 * @throws CodedError ResourceNotFound, Unauthorized, CannotChangePermissions for root
 */
export function updatePermissions(catalog: Catalog, op: CommittedOp): ApplyResult {
  const request = decodeUpdatePermissions(op.body);
  const user = requireUser(catalog, request.user);
  requireGrant(catalog, op.user, "manage-users");
  if (user.id === ROOT_USER_ID) throw new CodedError(ErrorCode.CannotChangePermissions);
  catalog.users.replace({ ...user, permissions: request.permissions });
  return success([{ kind: "user-changed", user: user.id }]);
}
