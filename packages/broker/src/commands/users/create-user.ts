import { encodeCreateUserOp, refuseOptions, UserStatus } from "@millrace/metadata";
import { decodeBody, decodeCreateUser, Operation } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import type { Handler } from "../handler.ts";
import { commitOp } from "../metadata/commit-metadata.ts";
import { hashPassword } from "./hash-password.ts";

/**
 * Creates a user. The password is hashed here, so that the log never sees it; who may not create users does
 * not get that far.
 */
export const createUser: Handler = (shard, request, session) => {
  const asked = decodeBody(decodeCreateUser, request.body);
  refuseOptions(asked.options);
  checkPermission(shard, session, "manage-users");
  hashPassword(shard, request, asked.password, (passwordHash) => {
    const { username: name, permissions } = asked;
    const body = encodeCreateUserOp({ name, passwordHash, status: UserStatus[asked.status], permissions });
    commitOp(shard, request, session, { operation: Operation.CreateUser, body });
  });
};
