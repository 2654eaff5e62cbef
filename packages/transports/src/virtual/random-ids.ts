import type { Random } from "@millrace/platform";

const ID_LENGTH = 16;
/** Ids made from one call for chance, which costs about as much for one as for all of them. */
const IDS_PER_CALL = 256;
/** Version and variant bits of a random UUID; stored little-endian, so byte 6 is at 9 and byte 8 at 7. */
const VERSION_AT = 9;
const VARIANT_AT = 7;

/** Random UUIDs of version 4, as they stand in frames. */
export class RandomIds {
  readonly #random: Random;
  #bytes: Uint8Array = new Uint8Array(0);
  #used = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Writes the next one into 16 bytes of `target`. */
  write(target: Uint8Array, position: number): void {
    if (this.#used === this.#bytes.length) {
      this.#bytes = this.#random.bytes(IDS_PER_CALL * ID_LENGTH);
      this.#used = 0;
    }
    target.set(this.#bytes.subarray(this.#used, this.#used + ID_LENGTH), position);
    this.#used += ID_LENGTH;
    target[position + VERSION_AT] = ((target[position + VERSION_AT] ?? 0) & 0x0f) | 0x40;
    target[position + VARIANT_AT] = ((target[position + VARIANT_AT] ?? 0) & 0x3f) | 0x80;
  }
}
