import { HEADER_LENGTH } from "@millrace/framing";

/** Headers cut from one allocation: 64 KiB a slab. */
const HEADERS_PER_SLAB = 256;
/** Headers kept when idle (1 MiB); more than that were needed only by a burst and go back to the runtime. */
const HEADERS_KEPT_MAX = 4096;

/** Buffers of 256 bytes for reply and eviction headers, used again after the write that carried them. */
export class HeaderPool {
  readonly #free: Uint8Array[] = [];

  /** A buffer with any content; give it back once its write is done. */
  take(): Uint8Array {
    const header = this.#free.pop();
    if (header !== undefined) return header;
    const slab = new Uint8Array(HEADERS_PER_SLAB * HEADER_LENGTH);
    for (let index = 1; index < HEADERS_PER_SLAB; index++) {
      this.#free.push(slab.subarray(index * HEADER_LENGTH, (index + 1) * HEADER_LENGTH));
    }
    return slab.subarray(0, HEADER_LENGTH);
  }

  give(header: Uint8Array): void {
    if (this.#free.length < HEADERS_KEPT_MAX) this.#free.push(header);
  }
}
