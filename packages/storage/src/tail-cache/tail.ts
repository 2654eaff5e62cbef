import type { Lease } from "@millrace/framing";
import { lastWhere } from "../index-file/sparse-index.ts";

/**
 * Recent batches of one partition that follow each other in offset and in memory, kept together: a large
 * batch
 * alone, small ones up to some length. Batches are told apart by their headers. `lease` is gone once the
 * stretch was let go.
 */
export interface TailStretch {
  readonly tail: Tail;
  /** First byte in the kernel's memory. */
  readonly position: number;
  /** Bytes of its batches. */
  length: number;
  readonly baseOffset: number;
  /** First offset behind the last batch. */
  endOffset: number;
  /** Base timestamps of its first and its last batch, micros. */
  readonly firstTimestamp: number;
  lastTimestamp: number;
  lease: Lease | undefined;
}

/**
 * Stretches taken from the front stay in the array until they are this many and half of it: moving costs once
 * per stretch.
 */
const STALE_STRETCHES_MAX = 1024;

/**
 * The most recent batches of one partition in one purge generation, oldest first, without holes.
 *
 * Filled and emptied by a `TailCache`, which alone takes stretches away, always from the front.
 */
export class Tail {
  #stretches: TailStretch[] = [];
  #start = 0;

  get first(): TailStretch | undefined {
    return this.#stretches[this.#start];
  }

  get last(): TailStretch | undefined {
    return this.first === undefined ? undefined : this.#stretches[this.#stretches.length - 1];
  }

  push(stretch: TailStretch): void {
    this.#stretches.push(stretch);
  }

  /** Takes the oldest stretch away. */
  shift(): TailStretch | undefined {
    const stretch = this.first;
    if (stretch === undefined) return undefined;
    this.#start += 1;
    const isMostlyStale = this.#start > STALE_STRETCHES_MAX && this.#start * 2 > this.#stretches.length;
    if (isMostlyStale || this.#start === this.#stretches.length) {
      this.#stretches = this.#stretches.slice(this.#start);
      this.#start = 0;
    }
    return stretch;
  }

  /**
   * The stretch that holds `offset`, or the first one behind it; nothing when `offset` lies before the tail.
   */
  find(offset: number): TailStretch | undefined {
    const { first } = this;
    if (first === undefined || offset < first.baseOffset) return undefined;
    const before = this.#lastWhere((stretch) => stretch.endOffset <= offset);
    return this.#stretches[this.#start + before + 1];
  }

  /**
   * The stretch with the first batch stamped at or after `timestamp`, when the tail proves that no batch
   * before
   * it is.
   */
  findTimestamp(timestamp: number): TailStretch | undefined {
    const { first } = this;
    if (first === undefined || first.firstTimestamp >= timestamp) return undefined;
    const before = this.#lastWhere((stretch) => stretch.lastTimestamp < timestamp);
    return this.#stretches[this.#start + before + 1];
  }

  #lastWhere(holds: (stretch: TailStretch) => boolean): number {
    const count = this.#stretches.length - this.#start;
    return lastWhere(count, (index) => {
      const stretch = this.#stretches[this.#start + index];
      return stretch !== undefined && holds(stretch);
    });
  }
}
