import { encodeGetClientsReply } from "@millrace/protocol";
import { checkEmptyBody } from "../../admission/check-empty-body.ts";
import { checkPermission } from "../../admission/check-permission.ts";
import { answering } from "../handler.ts";
import { clientDetails } from "./client-records.ts";

/** Every open connection, logged in or not. */
export const getClients = answering((shard, request, session) => {
  checkEmptyBody(request);
  checkPermission(shard, session, "read-server");
  return encodeGetClientsReply(shard.connections.list().map((one) => clientDetails(shard, one)));
});
