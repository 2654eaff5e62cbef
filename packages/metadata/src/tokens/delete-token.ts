import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeDeletePersonalAccessToken } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { ownUser } from "./own-user.ts";

/**
 * Deletes one of the tokens of the user who asks. Sessions that logged in with it go on.
 * @throws CodedError ResourceNotFound
 */
export function deleteToken(catalog: Catalog, op: CommittedOp): ApplyResult {
  const { name } = decodeDeletePersonalAccessToken(op.body);
  const user = ownUser(catalog, op);
  const tokens = user.tokens.filter((token) => token.name !== name);
  if (tokens.length === user.tokens.length) {
    throw new CodedError(ErrorCode.ResourceNotFound, "The token does not exist.");
  }
  catalog.users.replace({ ...user, tokens });
  return success();
}
