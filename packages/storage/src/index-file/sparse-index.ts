/** A known batch start: its first offset, its timestamp in micros and its place in the `.log`. */
export interface IndexEntry {
  readonly offset: number;
  readonly timestamp: number;
  readonly position: number;
}

/** Bytes of `.log` between two entries, about: a seek reads no more than this in vain. */
export const INDEX_SPACING = 262_144;
const CAPACITY_FIRST = 64;

/**
 * Batch starts of one segment in memory, in order of offset, timestamp and position alike.
 *
 * A hint: whoever uses an entry checks the batch it leads to. Three columns of numbers, so an entry costs 24
 * bytes.
 */
export class SparseIndex {
  #offsets = new Float64Array(CAPACITY_FIRST);
  #timestamps = new Float64Array(CAPACITY_FIRST);
  #positions = new Float64Array(CAPACITY_FIRST);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  entry(index: number): IndexEntry | undefined {
    if (index < 0 || index >= this.#count) return undefined;
    return {
      offset: this.#offsets[index] ?? 0,
      timestamp: this.#timestamps[index] ?? 0,
      position: this.#positions[index] ?? 0,
    };
  }

  /** Adds a batch start when it is the first or lies far enough behind the last entry. */
  note(offset: number, timestamp: number, position: number): void {
    if (this.#count > 0 && position - (this.#positions[this.#count - 1] ?? 0) < INDEX_SPACING) return;
    this.add(offset, timestamp, position);
  }

  /** Adds a batch start whatever the distance. */
  add(offset: number, timestamp: number, position: number): void {
    if (this.#count === this.#offsets.length) this.#grow();
    this.#offsets[this.#count] = offset;
    this.#timestamps[this.#count] = timestamp;
    this.#positions[this.#count] = position;
    this.#count += 1;
  }

  /** Index of the last entry whose offset is at most `offset`; -1 when there is none. */
  atOffset(offset: number): number {
    return lastWhere(this.#count, (index) => (this.#offsets[index] ?? 0) <= offset);
  }

  /** Index of the last entry whose timestamp is before `timestamp`; -1 when there is none. */
  beforeTimestamp(timestamp: number): number {
    return lastWhere(this.#count, (index) => (this.#timestamps[index] ?? 0) < timestamp);
  }

  #grow(): void {
    const capacity = this.#offsets.length * 2;
    this.#offsets = widened(this.#offsets, capacity);
    this.#timestamps = widened(this.#timestamps, capacity);
    this.#positions = widened(this.#positions, capacity);
  }
}

function widened(column: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const wider = new Float64Array(capacity);
  wider.set(column);
  return wider;
}

/** Last index below `count` for which `holds`, which is true up to some place and false after it. */
export function lastWhere(count: number, holds: (index: number) => boolean): number {
  let low = -1;
  let high = count - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
