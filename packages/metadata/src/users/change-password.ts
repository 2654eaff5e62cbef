import { CodedError, ErrorCode } from "@millrace/errors";
import type { Catalog } from "../catalog/catalog.ts";
import { requireUser } from "../catalog/targets.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { requireGrant } from "../permissions/may.ts";
import { decodeChangePasswordOp } from "./change-password-op.ts";

/**
 * Gives a user another password. Whoever comes last wins: the current password was checked before consensus.
 * @throws CodedError ResourceNotFound, Unauthorized for another's, InvalidCredentials
 */
export function changePassword(catalog: Catalog, op: CommittedOp): ApplyResult {
  const { user: identifier, checked } = decodeChangePasswordOp(op.body);
  const user = requireUser(catalog, identifier);
  if (user.id !== op.user) requireGrant(catalog, op.user, "manage-users");
  if (checked === undefined || checked.revision !== user.revision) {
    throw new CodedError(ErrorCode.InvalidCredentials, "The current password is wrong.");
  }
  catalog.users.replace({ ...user, passwordHash: checked.passwordHash });
  return success([{ kind: "user-changed", user: user.id }]);
}
