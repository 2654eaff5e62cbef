import type { Shard } from "../shard.ts";
import { logoutOnBehalf } from "./logout.ts";

/**
 * Sessions that a crash left in the client table have no connection. Their clients may come back under the
 * same id and go on with their request numbers; those that have not after a while are logged out, so that the
 * table's room is not used up by clients that are gone.
 *
 * In a cluster they may be connected to another node: there `Liveness` decides.
 *
 * @returns stops waiting for them
 */
export function releaseRecoveredSessions(shard: Shard): () => void {
  const recovered = shard.metadata.clientTable.sessions();
  if (shard.metadata.isReplicated || recovered.length === 0) return () => {};
  const timer = shard.platform.clock.setTimer(shard.config.recoveredSessionGraceMs, () => {
    for (const { client, epoch, user } of recovered) {
      const now = shard.metadata.clientTable.session(client);
      if (now?.epoch === epoch) logoutOnBehalf(shard, { client, session: epoch, user });
    }
  });
  return () => timer.cancel();
}
