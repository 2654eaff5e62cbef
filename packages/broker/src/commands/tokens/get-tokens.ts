import { encodeGetPersonalAccessTokensReply } from "@millrace/protocol";
import { checkEmptyBody } from "../../admission/check-empty-body.ts";
import { answering } from "../handler.ts";

/** The caller's own tokens without their text, expired ones included until the cleaner takes them. */
export const getTokens = answering((shard, request, session) => {
  checkEmptyBody(request);
  return encodeGetPersonalAccessTokensReply(shard.catalog.userById(session.user)?.tokens ?? []);
});
