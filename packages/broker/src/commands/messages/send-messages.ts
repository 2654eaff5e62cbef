import { type AdmittedSend, checkSend } from "../../admission/check-send.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";
import type { Handler } from "../handler.ts";
import { SendOp } from "./send-op.ts";

/**
 * Appends a batch to a partition and confirms where it begins.
 *
 * The reply leaves once the batch is written as durably as the topic asks. Requests of one connection overlap
 * here; their order is that of their partition's group. A send that comes again is confirmed as before.
 * @see wire-protocol sections 7.5, 8.9, 9
 */
export const sendMessages: Handler = (shard, request, session) =>
  checkSend(shard, request, session, appendSend);

function appendSend(shard: Shard, request: ClientRequest, session: Session, send: AdmittedSend): void {
  send.handle.append(new SendOp(shard, request, session, send));
}
