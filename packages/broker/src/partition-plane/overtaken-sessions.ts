import type { PartitionOp } from "./partition-op.ts";

/** Clients of one partition of which is known that they have come back; of more the oldest are forgotten. */
const CLIENTS_MAX = 256;

/** A session of a client: the op of its Register. */
type ClientSession = Pick<PartitionOp, "client"> & { readonly session: number };

/**
 * Sessions whose sends come too late, in one partition.
 *
 * A client that comes back repeats a send whose answer it has lost. Where the partition is the server's to
 * choose, all partitions are asked for that send, and it goes to another one when none has seen it. What the
 * session before has sent may still be on its way then, from another node or shard: it is not taken any more.
 * @see docs/adr/0068
 */
export class OvertakenSessions {
  /** By client the session that has asked last, those that asked lately at the end. */
  readonly #latest = new Map<bigint, number>();

  /** A session asks for what sessions before it have sent, and hears that there is nothing. */
  asks({ client, session }: ClientSession): void {
    const before = this.#latest.get(client) ?? 0;
    this.#latest.delete(client);
    this.#latest.set(client, Math.max(before, session));
    if (this.#latest.size <= CLIENTS_MAX) return;
    const [oldest] = this.#latest.keys();
    if (oldest !== undefined) this.#latest.delete(oldest);
  }

  /** True for a batch of a session before the one that has asked. */
  isLate({ client, session, batchLease }: PartitionOp): boolean {
    if (this.#latest.size === 0 || session === undefined || batchLease === undefined) return false;
    return session < (this.#latest.get(client) ?? 0);
  }
}
