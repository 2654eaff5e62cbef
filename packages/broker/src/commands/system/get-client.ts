import { decodeBody, decodeGetClient, encodeGetClientReply } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { answering } from "../handler.ts";
import { clientDetails } from "./client-records.ts";

/** One connection by its number; empty when there is none. */
export const getClient = answering((shard, request, session) => {
  const { clientId } = decodeBody(decodeGetClient, request.body);
  const connection = shard.connections.find(clientId);
  if (connection === undefined) return encodeGetClientReply(undefined);
  checkPermission(shard, session, "read-server");
  return encodeGetClientReply(clientDetails(shard, connection));
});
