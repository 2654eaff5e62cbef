import { PartitionCursor, type Polled } from "../consumer/partition-cursor.ts";
import type { PollStart } from "../messages/poll.ts";

/**
 * The time for which a member has a partition: from the sync that gave it until everything of it is
 * committed.
 */
export class Tenure {
  readonly partitionId: number;
  /** True while the member may poll it; false while it only finishes what it has. */
  isOwn = true;
  /** Somebody else has it: what is left of it is not to be handled here. */
  isLost = false;
  #lastPolled = -1;
  #lastStored = -1;
  #cursor: PartitionCursor | undefined;

  constructor(partitionId: number) {
    this.partitionId = partitionId;
  }

  /** @param stored  the group's stored offset when the tenure began */
  begin(startAt: PollStart, stored: number | undefined): PartitionCursor {
    const start = stored === undefined ? startAt : { offset: stored + 1 };
    this.#cursor = new PartitionCursor(this.partitionId, start);
    if (stored !== undefined) this.#cursor.expect(stored + 1);
    return this.#cursor;
  }

  /** Where it is read; undefined before it began. */
  get cursor(): PartitionCursor | undefined {
    return this.#cursor;
  }

  /** Offset the next message should have; undefined while that is not known. */
  get expectedOffset(): number | undefined {
    return this.#cursor?.nextOffset;
  }

  /** Highest offset stored in this tenure, undefined before the first. */
  get lastStored(): number | undefined {
    return this.#lastStored < 0 ? undefined : this.#lastStored;
  }

  /** True once a poll brought something. */
  get hasPolled(): boolean {
    return this.#lastPolled >= 0;
  }

  /** True when nothing that was polled waits for its commit. */
  get isSettled(): boolean {
    return this.#lastStored >= this.#lastPolled;
  }

  /** Notes what a poll returned; says which offset was expected when messages before it are gone. */
  advance(polled: Polled): number | undefined {
    this.#lastPolled = polled.messages.at(-1)?.offsetNumber ?? this.#lastPolled;
    return this.#cursor?.advance(polled).skippedFrom;
  }

  /** Notes a commit. */
  stored(offset: number): void {
    this.#lastStored = Math.max(this.#lastStored, offset);
  }
}
