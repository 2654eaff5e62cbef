import { decodeBody, decodeGetStream, encodeGetStreamReply } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { answeringContents } from "../handler.ts";
import { streamDetails } from "./stream-records.ts";

/** One stream with its topics; empty when it does not exist. */
export const getStream = answeringContents((shard, request, session) => {
  const asked = decodeBody(decodeGetStream, request.body);
  const stream = shard.catalog.findStream(asked.stream);
  if (stream === undefined) return encodeGetStreamReply(undefined);
  checkPermission(shard, session, "read-stream", { stream: stream.id });
  return encodeGetStreamReply(streamDetails(shard, stream));
});
