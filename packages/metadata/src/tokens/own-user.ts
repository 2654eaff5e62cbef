import { CodedError, ErrorCode } from "@millrace/errors";
import type { Catalog } from "../catalog/catalog.ts";
import type { User } from "../catalog/user.ts";
import type { CommittedOp } from "../committed-op.ts";

/** The user whose session asks. @throws CodedError Unauthorized when he was deleted meanwhile */
export function ownUser(catalog: Catalog, op: CommittedOp): User {
  const user = catalog.users.byId(op.user);
  if (user !== undefined) return user;
  throw new CodedError(ErrorCode.Unauthorized, `User ${op.user} does not exist any more.`);
}
