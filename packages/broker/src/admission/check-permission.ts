import { CodedError, ErrorCode } from "@millrace/errors";
import { type Action, may, type Scope, type User } from "@millrace/metadata";
import type { Session } from "../sessions/session.ts";
import type { Shard } from "../shard.ts";

/** Checks that the session's user may do something now. @throws CodedError Unauthorized */
export function checkPermission(shard: Shard, session: Session, action: Action, scope?: Scope): void {
  if (may(userOf(shard, session), action, scope)) return;
  throw new CodedError(ErrorCode.Unauthorized, `The user has no permission to ${action}.`, {
    details: { user: session.user },
  });
}

/** The session's user; nobody when he was deleted, whoever has his id now. */
function userOf(shard: Shard, session: Session): User | undefined {
  const user = shard.catalog.userById(session.user);
  return user !== undefined && user.revision < session.session ? user : undefined;
}
