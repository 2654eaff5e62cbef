/**
 * Longest piece that is kept for the next batch. Batches of a thousand messages of a KiB fit; longer ones are
 * rare enough to get memory of their own.
 */
const KEPT_LENGTH_MAX = 1_048_576;

/** Memory for one batch after another: making it anew costs a small batch as much as copying it does. */
export class ScratchBytes {
  #kept = new Uint8Array(0);

  /** `length` bytes of any content, good until the next call. */
  take(length: number): Uint8Array {
    if (length > KEPT_LENGTH_MAX) return new Uint8Array(length);
    if (length > this.#kept.length) {
      this.#kept = new Uint8Array(Math.min(KEPT_LENGTH_MAX, 2 * length));
    }
    return this.#kept.subarray(0, length);
  }
}
