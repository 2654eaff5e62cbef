import type { Random } from "@millrace/platform";

const ID_LENGTH = 16;

/** Ids made of one draw of chance: 4 KiB, so that a draw is rare beside the messages it serves. */
const IDS_PER_DRAW = 256;

/**
 * Random message ids, version 4 UUIDs, written straight into a batch: a UUID is the big-endian form of the
 * 128-bit id, and the wire is little-endian, so version and variant stand in bytes 9 and 7 from the start.
 */
export class RandomIds {
  readonly #random: Random;
  #bytes: Uint8Array = new Uint8Array(0);
  #position = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Writes one id, 16 bytes, at `position`. */
  write(target: Uint8Array, position: number): void {
    if (this.#position === this.#bytes.length) {
      this.#bytes = this.#random.bytes(ID_LENGTH * IDS_PER_DRAW);
      this.#position = 0;
    }
    for (let index = 0; index < ID_LENGTH; index += 1) {
      target[position + index] = this.#bytes[this.#position + index] as number;
    }
    target[position + 9] = ((target[position + 9] as number) & 0x0f) | 0x40;
    target[position + 7] = ((target[position + 7] as number) & 0x3f) | 0x80;
    this.#position += ID_LENGTH;
  }
}
