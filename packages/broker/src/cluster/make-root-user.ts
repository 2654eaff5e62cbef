import type { BrokerOptions } from "../broker-options.ts";
import type { Shard } from "../shard.ts";
import { ensureRootUser } from "../start/ensure-root-user.ts";

/** Milliseconds between two looks whether this node is the one that has to make the root user. */
const ROOT_USER_INTERVAL_MS = 100;

/**
 * The first primary of a new cluster makes the root user; whoever is primary finishes it. Returns what ends
 * the looking.
 */
export function makeRootUser(
  { metadata, platform }: Pick<Shard, "metadata" | "platform">,
  rootUser: BrokerOptions["rootUser"],
): () => void {
  let timer = platform.clock.setTimer(0, () => look());
  const again = () => {
    timer = platform.clock.setTimer(ROOT_USER_INTERVAL_MS, look);
  };
  const look = () => {
    if (!metadata.isPrimary) again();
    else ensureRootUser(metadata, rootUser).catch(again);
  };
  return () => timer.cancel();
}
