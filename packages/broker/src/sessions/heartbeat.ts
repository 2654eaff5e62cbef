import { EvictionReason } from "@millrace/protocol";
import type { Shard } from "../shard.ts";
import type { ClientConnection } from "./client-connection.ts";

/** Silence that ends a membership, in intervals: one late beat is forgiven. */
const SILENT_INTERVALS = 1.2;

/**
 * Looks for members of consumer groups that have gone silent and ends their sessions, every interval.
 *
 * Any request counts as a sign of life. A connection without membership is never ended for silence.
 * @returns stops looking
 */
export function watchHeartbeats(shard: Shard): () => void {
  const { isEnabled, intervalMs } = shard.config.heartbeat;
  if (!isEnabled) return () => {};
  const { clock } = shard.platform;
  const look = () => {
    const silentSinceMs = clock.monotonicMs() - SILENT_INTERVALS * intervalMs;
    for (const connection of shard.connections.list()) {
      if (isSilentMember(connection, silentSinceMs)) connection.evict(EvictionReason.StaleClient);
    }
    timer = clock.setTimer(intervalMs, look);
  };
  let timer = clock.setTimer(intervalMs, look);
  return () => timer.cancel();
}

function isSilentMember(connection: ClientConnection, silentSinceMs: number): boolean {
  return connection.groupsCount > 0 && connection.lastHeardMs < silentSinceMs;
}
