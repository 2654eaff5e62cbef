import { CodedError, ErrorCode } from "@millrace/errors";
import type { Catalog } from "../catalog/catalog.ts";
import { ROOT_USER_ID, UserStatus } from "../catalog/user.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { decodeCreateRootUser } from "./root-user-op.ts";

/**
 * Creates user 0 on the first start, without permissions: root's are implied.
 * @throws CodedError UserAlreadyExists
 */
export function createRootUser(catalog: Catalog, op: CommittedOp): ApplyResult {
  const { name, passwordHash } = decodeCreateRootUser(op.body);
  const taken = catalog.users.byId(ROOT_USER_ID) ?? catalog.users.byName(name);
  if (taken !== undefined) throw new CodedError(ErrorCode.UserAlreadyExists);
  catalog.users.add({
    id: ROOT_USER_ID,
    name,
    status: UserStatus.active,
    passwordHash,
    permissions: undefined,
    createdAt: op.timestamp,
    revision: op.op,
    tokens: [],
  });
  return success([{ kind: "user-changed", user: ROOT_USER_ID }]);
}
