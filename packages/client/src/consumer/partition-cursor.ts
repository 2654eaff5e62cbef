import type { PollStart } from "../messages/poll.ts";
import type { ReceivedMessage } from "../messages/received-message.ts";

/** What a poll found in a partition. */
export interface Polled {
  readonly messages: readonly ReceivedMessage[];
  /** Highest readable offset; 0 also when there is none. */
  readonly currentOffset: number;
}

/** Where one partition is read from next. */
export class PartitionCursor {
  readonly partitionId: number;
  #start: PollStart;
  /** Offset behind the last message it was given, once it was given one. */
  #nextOffset: number | undefined;

  constructor(partitionId: number, start: PollStart) {
    this.partitionId = partitionId;
    this.#start = start;
  }

  get start(): PollStart {
    return this.#start;
  }

  /** How many messages to ask for: "last" means the newest one, and the poll counts back from it. */
  countOf(countMax: number): number {
    return this.#start === "last" ? 1 : countMax;
  }

  /**
   * Notes what a poll returned. True when the log has become shorter than what was read of it, as a purge
   * leaves it: then reading goes on behind the stored offset, which a purge forgets, and not in silence where
   * there will be nothing for long.
   */
  advance({ messages, currentOffset }: Polled): boolean {
    const last = messages.at(-1);
    if (last !== undefined) {
      this.#nextOffset = last.offsetNumber + 1;
      this.#start = { offset: this.#nextOffset };
      return false;
    }
    // Nothing was last: whatever comes from now on is to be read from its beginning.
    if (this.#start === "last") this.#start = "first";
    const isShorter = this.#nextOffset !== undefined && this.#nextOffset > currentOffset + 1;
    if (isShorter) {
      this.#start = "next";
      this.#nextOffset = undefined;
    }
    return isShorter;
  }
}
