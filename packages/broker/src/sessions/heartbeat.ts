import { EvictionReason } from "@millrace/protocol";
import type { Shard } from "../shard.ts";
import type { ClientConnection } from "./client-connection.ts";
import { endSession } from "./logout.ts";

/** Silence that ends a membership, in intervals: one late beat is forgiven. */
export const SILENT_INTERVALS = 1.2;

/** Looks per interval: an eviction is late by a tenth of it at most. */
const LOOKS_PER_INTERVAL = 10;

/**
 * Looks for members of consumer groups that have gone silent and ends their sessions, ten times an interval.
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
      if (!isSilentMember(shard, connection, silentSinceMs)) continue;
      connection.evict(EvictionReason.StaleClient);
      // A frozen peer keeps its half of the connection open; its partitions do not wait for that.
      endSession(shard, connection);
    }
    timer = clock.setTimer(intervalMs / LOOKS_PER_INTERVAL, look);
  };
  let timer = clock.setTimer(intervalMs / LOOKS_PER_INTERVAL, look);
  return () => timer.cancel();
}

function isSilentMember(shard: Shard, connection: ClientConnection, silentSinceMs: number): boolean {
  if (connection.lastHeardMs >= silentSinceMs || connection.session === undefined) return false;
  return shard.catalog.membershipsOf(connection.session.client).length > 0;
}
