import type { PollStart } from "../messages/poll.ts";
import type { ReceivedMessage } from "../messages/received-message.ts";

/** Where one partition is read from next. */
export class PartitionCursor {
  readonly partitionId: number;
  #start: PollStart;

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

  /** Notes what a poll returned. */
  advance(messages: readonly ReceivedMessage[]): void {
    const last = messages.at(-1);
    if (last !== undefined) this.#start = { offset: last.offsetNumber + 1 };
    // Nothing was last: whatever comes from now on is to be read from its beginning.
    else if (this.#start === "last") this.#start = "first";
  }
}
