/** What one group's owner of a partition has been given. */
interface Polled {
  /** Client id of the owner that polled. */
  readonly client: bigint;
  readsRunning: number;
  /** Highest offset it was given, -1 for none. */
  lastOffset: number;
  /** It was last told to poll on another node, which knows what it is given. */
  isElsewhere: boolean;
}

/**
 * How far the owners of one partition have polled it, by consumer group. In memory only: after a restart
 * nothing is known, and what was polled before comes again.
 */
export class PolledOffsets {
  readonly #byGroup = new Map<number, Polled>();

  /** A member that owns the partition begins to read it. What an earlier owner was given counts no more. */
  begin(groupId: number, client: bigint): void {
    const polled = this.#of(groupId, client);
    polled.readsRunning += 1;
    polled.isElsewhere = false;
  }

  /** A member is told to poll on another node. */
  sentElsewhere(groupId: number, client: bigint): void {
    this.#of(groupId, client).isElsewhere = true;
  }

  /** Where an owner has polled last, as far as this node has heard; nothing when it has not. */
  whereOf(groupId: number, client: bigint): "here" | "elsewhere" | undefined {
    const polled = this.#byGroup.get(groupId);
    if (polled?.client !== client) return undefined;
    return polled.isElsewhere ? "elsewhere" : "here";
  }

  #of(groupId: number, client: bigint): Polled {
    const known = this.#byGroup.get(groupId);
    if (known?.client === client) return known;
    const polled = { client, readsRunning: 0, lastOffset: -1, isElsewhere: false };
    this.#byGroup.set(groupId, polled);
    return polled;
  }

  /** The read ended, with the last offset it gave out or with nothing. */
  end(groupId: number, client: bigint, lastOffset = -1): void {
    const polled = this.#byGroup.get(groupId);
    if (polled?.client !== client) return;
    polled.readsRunning -= 1;
    polled.lastOffset = Math.max(polled.lastOffset, lastOffset);
  }

  /**
   * True when the owner has messages it did not commit.
   * @param committed  the group's stored offset of this partition, if there is one
   */
  isInFlight(groupId: number, client: bigint, committed: number | undefined): boolean {
    const polled = this.#byGroup.get(groupId);
    if (polled?.client !== client) return false;
    return polled.readsRunning > 0 || polled.lastOffset > (committed ?? -1);
  }

  /** The partition was purged: whatever was given out, there is nothing left to commit. */
  purged(): void {
    for (const polled of this.#byGroup.values()) polled.lastOffset = -1;
  }

  /** The group is gone. */
  forget(groupId: number): void {
    this.#byGroup.delete(groupId);
  }
}
