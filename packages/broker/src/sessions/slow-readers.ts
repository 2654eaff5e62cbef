import { CodedError, ErrorCode } from "@millrace/errors";
import type { Shard } from "../shard.ts";

/** How often connections are looked at, milliseconds. */
const LOOK_INTERVAL_MS = 5000;

/**
 * Closes connections whose client does not take its replies: they hold message memory that everybody needs.
 *
 * @returns stops looking
 */
export function watchSlowReaders(shard: Shard): () => void {
  const { clock } = shard.platform;
  const look = () => {
    const nowMs = clock.monotonicMs();
    for (const connection of shard.connections.list()) {
      if (connection.isStalled(nowMs)) connection.close(tooSlow());
    }
    timer = clock.setTimer(LOOK_INTERVAL_MS, look);
  };
  let timer = clock.setTimer(LOOK_INTERVAL_MS, look);
  return () => timer.cancel();
}

function tooSlow(): CodedError {
  return new CodedError(ErrorCode.RequestTimeout, "The peer took too long to take its replies.");
}
