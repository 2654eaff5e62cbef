import type { ShardBus } from "../shard-bus.ts";

/** How simulated shards are connected. */
export interface SimShardBusOptions {
  readonly shardsCount: number;
  /**
   * Calls its argument later, for each message in the order of sends: what it does in between is the delay.
   * Default: as microtasks.
   */
  readonly schedule?: (deliver: () => void) => void;
}

/** The buses of shards that run in one thread, shard 0's first. What is sent is copied at once. */
export function createSimShardBuses(options: SimShardBusOptions): ShardBus[] {
  const { shardsCount, schedule = queueMicrotask } = options;
  const buses: ShardBus[] = [];
  for (let shard = 0; shard < shardsCount; shard++) {
    buses.push({
      shard,
      shardsCount,
      send(to, message) {
        const copy = message.slice();
        schedule(() => buses[to]?.onMessage(shard, copy));
      },
      onMessage() {},
    });
  }
  return buses;
}
