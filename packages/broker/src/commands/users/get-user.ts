import { decodeBody, decodeGetUser, encodeGetUserReply } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { answering } from "../handler.ts";
import { userDetails } from "./user-records.ts";

/** One user with permissions; empty when there is none. Everybody may look at himself. */
export const getUser = answering((shard, request, session) => {
  const asked = decodeBody(decodeGetUser, request.body);
  const user = shard.catalog.findUser(asked.user);
  if (user === undefined) return encodeGetUserReply(undefined);
  if (user.id !== session.user) checkPermission(shard, session, "read-users");
  return encodeGetUserReply(userDetails(user));
});
