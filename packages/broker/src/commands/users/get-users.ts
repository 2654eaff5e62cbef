import { encodeGetUsersReply } from "@millrace/protocol";
import { checkEmptyBody } from "../../admission/check-empty-body.ts";
import { checkPermission } from "../../admission/check-permission.ts";
import { answering } from "../handler.ts";
import { userDetails } from "./user-records.ts";

/** Every user by ascending id. */
export const getUsers = answering((shard, request, session) => {
  checkEmptyBody(request);
  checkPermission(shard, session, "read-users");
  return encodeGetUsersReply(shard.catalog.users().map(userDetails));
});
