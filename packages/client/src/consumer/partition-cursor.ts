import type { PollStart } from "../messages/poll.ts";
import type { ReceivedMessage } from "../messages/received-message.ts";

/** What a poll found in a partition. */
export interface Polled {
  readonly messages: readonly ReceivedMessage[];
  /** Highest readable offset; 0 also when there is none. */
  readonly currentOffset: number;
}

/** What a poll meant for a cursor. */
export interface Advance {
  readonly isRestarted: boolean;
  readonly skippedFrom: number | undefined;
}

/** Where one partition is read from next. */
export class PartitionCursor {
  readonly partitionId: number;
  #start: PollStart;
  /** Offset the next message should have, while that is known. */
  #nextOffset: number | undefined;

  constructor(partitionId: number, start: PollStart) {
    this.partitionId = partitionId;
    this.#start = start;
  }

  get start(): PollStart {
    return this.#start;
  }

  /** Offset the next message should have; undefined while that is not known. */
  get nextOffset(): number | undefined {
    return this.#nextOffset;
  }

  /** Tells what was read of the partition before: the next message should have this offset. */
  expect(nextOffset: number): void {
    this.#nextOffset = nextOffset;
  }

  /** How many messages to ask for: "last" means the newest one, and the poll counts back from it. */
  countOf(countMax: number): number {
    return this.#start === "last" ? 1 : countMax;
  }

  /**
   * Notes what a poll returned.
   *
   * `skippedFrom` is the offset that was due when messages before the first one are gone. `isRestarted` says
   * that the log has become shorter than what was read of it, as a purge leaves it: then reading goes on
   * behind the stored offset, which a purge forgets, and not in silence where there will be nothing for long.
   */
  advance({ messages, currentOffset }: Polled): Advance {
    const [first] = messages;
    const last = messages.at(-1);
    if (first !== undefined && last !== undefined) {
      const expected = this.#nextOffset;
      this.#nextOffset = last.offsetNumber + 1;
      this.#start = { offset: this.#nextOffset };
      const isGap = expected !== undefined && first.offsetNumber > expected;
      return { isRestarted: false, skippedFrom: isGap ? expected : undefined };
    }
    // Nothing was last: whatever comes from now on is to be read from its beginning.
    if (this.#start === "last") this.#start = "first";
    const isShorter = this.#nextOffset !== undefined && this.#nextOffset > currentOffset + 1;
    if (isShorter) {
      this.#start = "next";
      this.#nextOffset = undefined;
    }
    return { isRestarted: isShorter, skippedFrom: undefined };
  }
}
