import type { Shard } from "../shard.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { Session } from "./session.ts";

/**
 * True when nobody waits for what a session has asked: its connection has ended, or its client has logged in
 * again since, perhaps on another node. A connection that is paused, or lost without a word, has no end yet.
 */
export function hasLeft(
  { metadata }: Pick<Shard, "metadata">,
  connection: ClientConnection,
  { client, session }: Session,
): boolean {
  if (connection.isEnded) return true;
  const latest = metadata.clientTable.session(client);
  return latest !== undefined && latest.epoch > session;
}
