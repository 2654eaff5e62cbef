import type { Lease } from "@millrace/framing";
import { lastWhere } from "../index-file/sparse-index.ts";

/** One recent batch kept in memory. `lease` is gone once the entry was let go. */
export interface TailEntry {
  readonly baseOffset: number;
  /** First offset behind the batch. */
  readonly endOffset: number;
  /** Base timestamp of the batch, micros. */
  readonly timestamp: number;
  readonly length: number;
  lease: Lease | undefined;
  readonly tail: Tail;
}

/**
 * Entries taken from the front stay in the array until they are this many and half of it: moving costs once
 * per entry.
 */
const STALE_ENTRIES_MAX = 1024;

/**
 * The most recent batches of one partition in one purge generation, oldest first, without holes.
 *
 * Made and emptied by a `TailCache`, which alone takes entries away, always from the front.
 */
export class Tail {
  #entries: TailEntry[] = [];
  #start = 0;

  get first(): TailEntry | undefined {
    return this.#entries[this.#start];
  }

  get last(): TailEntry | undefined {
    return this.first === undefined ? undefined : this.#entries[this.#entries.length - 1];
  }

  push(entry: TailEntry): void {
    this.#entries.push(entry);
  }

  /** Takes the oldest entry away. */
  shift(): TailEntry | undefined {
    const entry = this.first;
    if (entry === undefined) return undefined;
    this.#start += 1;
    const isMostlyStale = this.#start > STALE_ENTRIES_MAX && this.#start * 2 > this.#entries.length;
    if (isMostlyStale || this.#start === this.#entries.length) {
      this.#entries = this.#entries.slice(this.#start);
      this.#start = 0;
    }
    return entry;
  }

  /**
   * The entry that holds `offset`, or the first one behind it; nothing when `offset` lies before the tail.
   */
  find(offset: number): TailEntry | undefined {
    const { first } = this;
    if (first === undefined || offset < first.baseOffset) return undefined;
    const before = this.#lastWhere((entry) => entry.endOffset <= offset);
    return this.#entries[this.#start + before + 1];
  }

  /** The first entry stamped at or after `timestamp`, when the tail proves that none before it is. */
  findTimestamp(timestamp: number): TailEntry | undefined {
    const { first } = this;
    if (first === undefined || first.timestamp >= timestamp) return undefined;
    const before = this.#lastWhere((entry) => entry.timestamp < timestamp);
    return this.#entries[this.#start + before + 1];
  }

  #lastWhere(holds: (entry: TailEntry) => boolean): number {
    const count = this.#entries.length - this.#start;
    return lastWhere(count, (index) => {
      const entry = this.#entries[this.#start + index];
      return entry !== undefined && holds(entry);
    });
  }
}
