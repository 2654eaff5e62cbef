import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeAttachConsumerSession, decodeBody } from "@millrace/protocol";
import { answering } from "../handler.ts";

/**
 * From now on the connection polls and commits for the session that it names, one of the same user: clients
 * of
 * a cluster have a connection of their own to a node that leads a partition.
 *
 * Codes: 58 while this node has not executed what the client has seen done, 30 for a session that is over,
 * and
 * for one of another user.
 */
export const attachConsumerSession = answering((shard, request, session) => {
  const {
    client,
    session: number,
    metadataWatermark,
  } = decodeBody(decodeAttachConsumerSession, request.body);
  if (shard.metadata.commit < metadataWatermark) throw new CodedError(ErrorCode.TransientNotAccepted);
  const known = shard.metadata.clientTable.session(client);
  if (known?.epoch !== number || known.user !== session.user) throw new CodedError(ErrorCode.StaleClient);
  session.attachedTo = { client, session: number };
  return undefined;
});
