import { ErrorCode } from "@millrace/errors";
import { encodeRemoveMemberOp, MetadataOperation } from "@millrace/metadata";
import { SERVER_CLIENT } from "@millrace/vsr";
import type { MetadataAnswer } from "../metadata-plane/metadata-request.ts";
import { SILENT_INTERVALS } from "../sessions/heartbeat.ts";
import type { Shard } from "../shard.ts";

/** Milliseconds until an op that found no room is proposed again. */
const RETRY_DELAY_MS = 100;

/**
 * Members that a restart left without a connection have as long to come back as a silent one may be silent;
 * then their partitions go to others. Their sessions may live on, see `releaseRecoveredSessions`.
 *
 * In a cluster they may be connected to another node: there `Liveness` decides.
 *
 * @returns stops waiting for them
 */
export function removeLostMembers(shard: Shard): () => void {
  const { isEnabled, intervalMs } = shard.config.heartbeat;
  const clients = [...shard.catalog.groupClients()];
  if (shard.metadata.isReplicated || !isEnabled || clients.length === 0) return () => {};
  const timer = shard.platform.clock.setTimer(SILENT_INTERVALS * intervalMs, () => {
    for (const client of clients) {
      const isMember = shard.catalog.membershipsOf(client).length > 0;
      if (isMember && !shard.connections.isLoggedIn(client)) removeForSure(shard, client);
    }
  });
  return () => timer.cancel();
}

function removeForSure(shard: Shard, client: bigint): void {
  proposeRemoval(shard, client, (answer) => {
    if (answer.kind !== "refused" || answer.code === ErrorCode.ShuttingDown) return;
    shard.platform.clock.setTimer(RETRY_DELAY_MS, () => removeForSure(shard, client));
  });
}

/** Asks once that all memberships of a client end; its session stays. */
export function proposeRemoval(
  shard: Shard,
  client: bigint,
  answered: (answer: MetadataAnswer) => void,
): void {
  shard.metadata.submit({
    client: SERVER_CLIENT,
    session: 0,
    request: 0n,
    operation: MetadataOperation.removeConsumerGroupMember,
    user: 0,
    body: encodeRemoveMemberOp(client),
    bodyChecksum: 0n,
    answered,
  });
}
