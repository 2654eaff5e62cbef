import type { ClientConnection } from "../sessions/client-connection.ts";
import type { ReplyFields } from "../sessions/client-request.ts";
import type { Shard } from "../shard.ts";

/**
 * Header fields of a reply that no op stands behind: the session and how far the node has committed, 0 before
 * login.
 */
export function directFields(shard: Shard, connection: ClientConnection): ReplyFields {
  const { session } = connection;
  if (session === undefined) return { bodyLength: 0 };
  return { bodyLength: 0, op: session.session, commit: shard.metadata.commit };
}
