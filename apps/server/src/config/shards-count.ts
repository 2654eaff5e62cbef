import { invalid } from "./invalid-setting.ts";
import type { Config } from "./schema.ts";

const KEY = "sharding.cpu_allocation";
/** More threads than machines have cores help nobody, and each takes memory. */
const SHARDS_MAX = 64;
/** Up to here another thread would take time from those that do the network and the disk. */
const CORES_OF_ONE_SHARD = 2;
/** Shard 0 receives: with room for one message only, its sender would wait for itself. */
const MESSAGES_OF_FRONT_MIN = 2;
/** An owner holds at least the longest message, and two blocks for short ones. */
const OWNER_SPARE_LENGTH = 2 * 1_048_576;

/** How many shards a server runs, and what a person should know about that. */
export interface ShardsCount {
  readonly count: number;
  /** A line for the log, or nothing. */
  readonly note: string | undefined;
}

/**
 * Reads `sharding.cpu_allocation`: `all` is a shard per core, and one on one or two cores; a number is that
 * many; `a..b` as many as cores from `a` to before `b`; `numa:…` is treated as `all`, with a note. `all` gives
 * no more shards than the message memory has room for.
 *
 * @throws CodedError InvalidConfiguration for another text, and for a number of shards beyond the memory
 */
export function shardsCount(config: Config, coresCount: number): ShardsCount {
  const text = config.sharding.cpu_allocation.trim();
  const roomFor = shardsInMemory(config);
  if (text === "all" || text.startsWith("numa:")) {
    const wanted = coresCount <= CORES_OF_ONE_SHARD ? 1 : Math.min(coresCount, SHARDS_MAX);
    const count = Math.max(1, Math.min(wanted, roomFor));
    return { count, note: noteOf(text, { wanted, count }) };
  }
  const count = statedCount(text);
  if (count > roomFor && count > 1) {
    throw invalid(KEY, `asks for ${count} shards; memory_pool.size has room for ${Math.max(1, roomFor)}`);
  }
  return { count, note: undefined };
}

function statedCount(text: string): number {
  const [, from, to] = /^(\d{1,5})\.\.(\d{1,5})$/.exec(text) ?? [];
  const isRange = from !== undefined && to !== undefined;
  if (!isRange && !/^\d{1,5}$/.test(text)) {
    throw invalid(KEY, `is "${text}"; it is all, a number, a range such as 0..4, or numa:auto`);
  }
  const count = isRange ? Number(to) - Number(from) : Number(text);
  if (count >= 1 && count <= SHARDS_MAX) return count;
  throw invalid(KEY, `is "${text}", which is not 1 to ${SHARDS_MAX} shards`);
}

function noteOf(text: string, { wanted, count }: { wanted: number; count: number }): string | undefined {
  const parts: string[] = [];
  if (text !== "all") parts.push(`${KEY} = "${text}" is treated as "all": Node cannot bind memory to nodes.`);
  if (count < wanted) {
    parts.push(`${count} shards run on ${wanted} cores: more would need a larger memory_pool.size.`);
  }
  return parts.length === 0 ? undefined : parts.join(" ");
}

/** Shards for which the message memory is enough, see `splitMemory`; 1 is always allowed. */
function shardsInMemory({ memory_pool: pool, message_bus: bus }: Config): number {
  const half = pool.size / 2;
  if (half < MESSAGES_OF_FRONT_MIN * bus.max_message_size) return 1;
  return 1 + Math.floor(half / (bus.max_message_size + OWNER_SPARE_LENGTH));
}
