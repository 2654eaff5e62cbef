import { type CheckedPassword, encodeChangePasswordOp } from "@millrace/metadata";
import { decodeBody, decodeChangePassword, Operation } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import type { Handler } from "../handler.ts";
import { commitOp } from "../metadata/commit-metadata.ts";
import { hashPassword, refuseBusy } from "./hash-password.ts";

/**
 * Changes a password: one's own, or another's for who manages users; the current one is needed either way.
 *
 * It is checked and the new one hashed here; a wrong one becomes an op that is rejected with 42.
 */
export const changePassword: Handler = (shard, request, session) => {
  const { user: identifier, currentPassword, newPassword } = decodeBody(decodeChangePassword, request.body);
  const user = shard.catalog.findUser(identifier);
  const commit = (checked: CheckedPassword | undefined) => {
    const body = encodeChangePasswordOp({ user: identifier, checked });
    commitOp(shard, request, session, { operation: Operation.ChangePassword, body });
  };
  if (user === undefined) {
    commit(undefined);
    return;
  }
  if (user.id !== session.user) checkPermission(shard, session, "manage-users");
  shard.passwordChecks.check({
    password: currentPassword,
    stored: user.passwordHash,
    isWanted: () => !request.connection.isEnded,
    decided(verdict) {
      if (verdict === "busy") refuseBusy(shard, request);
      else if (verdict === "wrong") commit(undefined);
      else {
        hashPassword(shard, request, newPassword, (passwordHash) =>
          commit({ revision: user.revision, passwordHash }),
        );
      }
    },
  });
};
