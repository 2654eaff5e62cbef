import type { ClientRequest } from "../sessions/client-request.ts";
import type { Shard } from "../shard.ts";

/** Largest u128: names the client of a frame that carries id 0, which an eviction may not. */
const NOBODY = (1n << 128n) - 1n;

/**
 * Ends the connection a request came on: the eviction frame leaves after the replies before it, then the
 * socket closes.
 *
 * @param reason  see `EvictionReason`
 */
export function evict(
  shard: Shard,
  request: ClientRequest,
  reason: number,
  options: { readonly versionWindow?: boolean } = {},
): void {
  shard.metrics.evictions.add(1);
  const { client } = request;
  request.evict(reason, { client: client === 0n ? NOBODY : client, ...options });
}
