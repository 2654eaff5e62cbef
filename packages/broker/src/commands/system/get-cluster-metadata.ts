import { encodeGetClusterMetadataReply } from "@millrace/protocol";
import { checkEmptyBody } from "../../admission/check-empty-body.ts";
import { answering } from "../handler.ts";

/** The roster: where clients find the nodes. Needs a login and no permission. */
export const getClusterMetadata = answering((shard, request) => {
  checkEmptyBody(request);
  return encodeGetClusterMetadataReply(shard.roster());
});
