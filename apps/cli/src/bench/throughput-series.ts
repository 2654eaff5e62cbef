/** Points of a chart: more would not be seen. */
const SLOTS_MAX = 120;
const SLOT_FIRST_MS = 50;

/** One stretch of a series. */
export interface ThroughputPoint {
  /** The middle of it, milliseconds after the start. */
  readonly atMs: number;
  readonly bytesPerSecond: number;
}

/**
 * Bytes over time in at most 120 stretches of equal length. When a run outgrows them, two become one and
 * each covers twice the time, so that memory is bounded whatever the length of the run.
 */
export class ThroughputSeries {
  #slotMs = SLOT_FIRST_MS;
  #bytes: number[] = [];
  #endMs = 0;

  /** Counts bytes that arrived `atMs` after the start; before it is at it. */
  record(atMs: number, bytes: number): void {
    const time = Math.max(0, atMs);
    this.#endMs = Math.max(this.#endMs, time);
    while (time >= this.#slotMs * SLOTS_MAX) this.#widen();
    const slot = Math.floor(time / this.#slotMs);
    while (this.#bytes.length <= slot) this.#bytes.push(0);
    this.#bytes[slot] = (this.#bytes[slot] as number) + bytes;
  }

  /** The stretches in order; the last one is as long as the run was in it. */
  points(): ThroughputPoint[] {
    return this.#bytes.map((bytes, slot) => {
      const startMs = slot * this.#slotMs;
      const isLast = slot === this.#bytes.length - 1;
      const lengthMs = isLast ? Math.max(1, this.#endMs - startMs) : this.#slotMs;
      return { atMs: startMs + lengthMs / 2, bytesPerSecond: (bytes * 1_000) / lengthMs };
    });
  }

  #widen(): void {
    const wide: number[] = [];
    for (let slot = 0; slot < this.#bytes.length; slot += 2) {
      wide.push((this.#bytes[slot] as number) + (this.#bytes[slot + 1] ?? 0));
    }
    this.#bytes = wide;
    this.#slotMs *= 2;
  }
}
