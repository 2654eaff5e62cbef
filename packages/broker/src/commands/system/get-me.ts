import { encodeGetMeReply } from "@millrace/protocol";
import { checkEmptyBody } from "../../admission/check-empty-body.ts";
import { answering } from "../handler.ts";
import { clientDetails } from "./client-records.ts";

/** The connection that asks. */
export const getMe = answering((shard, request) => {
  checkEmptyBody(request);
  return encodeGetMeReply(clientDetails(shard, request.connection));
});
