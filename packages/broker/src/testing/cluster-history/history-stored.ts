/** The offsets that may be stored for one consumer of a partition, who does one thing after the other. */
export class StoredOffsets {
  /** The last acknowledged one and those tried since. */
  #possible: (number | undefined)[] = [undefined];
  /** A poll whose outcome is unknown may move it forward, to where is not known. */
  #mayBeAhead = false;
  /** Highest offset that may ever have been stored. */
  #highest = -1;
  /** When it was first known that one is stored. */
  #sinceMs = Number.POSITIVE_INFINITY;

  /** What it is, for whoever reads a failure. */
  get text(): string {
    return `one of ${this.#possible}${this.#mayBeAhead ? " or above" : ""}`;
  }

  /** An offset is about to be stored, whatever was stored before. */
  storing(offset: number): void {
    this.#possible.push(offset);
    this.#highest = Math.max(this.#highest, offset);
  }

  stored(offset: number, nowMs = 0): void {
    this.#possible = [offset];
    this.#highest = Math.max(this.#highest, offset);
    this.#sinceMs = Math.min(this.#sinceMs, nowMs);
  }

  /** A poll that moves the offset forward was answered: messages up to this one, or none. */
  moved(last: number | undefined): void {
    if (last === undefined) return;
    this.#highest = Math.max(this.#highest, last);
    this.#possible = this.#possible.map((offset) => Math.max(offset ?? last, last));
  }

  /** Such a poll was not answered with messages: it may move the offset yet. */
  moving(): void {
    this.#mayBeAhead = true;
    this.#highest = Number.POSITIVE_INFINITY;
  }

  /** The consumer had an offset before a message was sent, and never one that has passed it. */
  keeps(offset: number, sentMs: number): boolean {
    return this.#sinceMs <= sentMs && offset > this.#highest;
  }

  mayBe(offset: number | undefined): boolean {
    if (this.#possible.includes(offset)) return true;
    if (!this.#mayBeAhead || offset === undefined) return false;
    return this.#possible.some((possible) => possible === undefined || offset >= possible);
  }
}
