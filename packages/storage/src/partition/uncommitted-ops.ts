import type { OpEntry } from "./op-entry.ts";

/** Places in front that are free stay until they are this many and half of all: moving costs once per op. */
const FREE_PLACES_MAX = 1024;

/** Accepted ops that are not committed yet, oldest first: they come at the end and leave at the front. */
export class UncommittedOps {
  #entries: (OpEntry | undefined)[] = [];
  #start = 0;

  get count(): number {
    return this.#entries.length - this.#start;
  }

  /** The oldest one. */
  get first(): OpEntry | undefined {
    return this.#entries[this.#start];
  }

  push(entry: OpEntry): void {
    this.#entries.push(entry);
  }

  /** The oldest one is committed. */
  dropFirst(): void {
    this.#entries[this.#start] = undefined;
    this.#start += 1;
    const isMostlyFree = this.#start > FREE_PLACES_MAX && this.#start * 2 > this.#entries.length;
    if (!isMostlyFree && this.#start < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#start);
    this.#start = 0;
  }

  /** Those above `op` never were. */
  dropAbove(op: number): void {
    this.#entries = [...this.upTo(op)];
    this.#start = 0;
  }

  /** Those up to `op`, oldest first. */
  *upTo(op: number): Iterable<OpEntry> {
    for (let at = this.#start; at < this.#entries.length; at += 1) {
      const entry = this.#entries[at];
      if (entry === undefined || entry.header.op > op) return;
      yield entry;
    }
  }

  /** All of them, newest first. */
  *newestFirst(): Iterable<OpEntry> {
    for (let at = this.#entries.length - 1; at >= this.#start; at -= 1) {
      const entry = this.#entries[at];
      if (entry !== undefined) yield entry;
    }
  }
}
