import { encodeGetStreamsReply } from "@millrace/protocol";
import { checkEmptyBody } from "../../admission/check-empty-body.ts";
import { checkPermission } from "../../admission/check-permission.ts";
import { answeringContents } from "../handler.ts";
import { streamRecord } from "./stream-records.ts";

/** Every stream by ascending id. */
export const getStreams = answeringContents((shard, request, session) => {
  checkEmptyBody(request);
  checkPermission(shard, session, "list-streams");
  return encodeGetStreamsReply(shard.catalog.streams().map((stream) => streamRecord(shard, stream)));
});
