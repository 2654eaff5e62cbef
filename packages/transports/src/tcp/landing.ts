/** What one read of a connection between long messages may bring: as much as Node itself reads at once. */
export const LANDING_LENGTH = 65_536;
/** The same for one that has filled that: many short messages of one read share what is done once a read. */
const WIDE_LENGTH = 262_144;
/** What is read of the message after a long one: enough to know its length, little to copy. */
const HEAD_LENGTH = 4096;
/** Connections that may read so much at a time: what a read brought is held back while memory is short. */
const WIDE_MAX = 64;

/**
 * The bytes that all connections of a listener read to: they are taken before the read's callback returns.
 */
export class Landing {
  readonly #wide = new Uint8Array(WIDE_LENGTH);
  readonly #usual = this.#wide.subarray(0, LANDING_LENGTH);
  readonly #head = this.#wide.subarray(0, HEAD_LENGTH);
  #widthsLeft = WIDE_MAX;

  /** A place of its own for one connection. */
  place(): LandingPlace {
    return new LandingPlace(this.#wide, this.#usual, this.#head, {
      take: () => {
        if (this.#widthsLeft === 0) return false;
        this.#widthsLeft -= 1;
        return true;
      },
      give: () => {
        this.#widthsLeft += 1;
      },
    });
  }
}

/** Where one connection reads to, and how much at a time. */
export class LandingPlace {
  readonly #wide: Uint8Array;
  readonly #usual: Uint8Array;
  readonly #head: Uint8Array;
  readonly #widths: { take(): boolean; give(): void };
  #isWide = false;

  constructor(
    wide: Uint8Array,
    usual: Uint8Array,
    head: Uint8Array,
    widths: { take(): boolean; give(): void },
  ) {
    this.#wide = wide;
    this.#usual = usual;
    this.#head = head;
    this.#widths = widths;
  }

  /** Where the next read goes; `isAfterLong`: a long message came just before. */
  next(isAfterLong: boolean): Uint8Array {
    if (isAfterLong) return this.#head;
    return this.#isWide ? this.#wide : this.#usual;
  }

  /** The bytes of a read into `buffer`; nothing when that is no place of this landing. */
  landed(buffer: Uint8Array, length: number): Uint8Array | undefined {
    if (buffer !== this.#wide && buffer !== this.#usual && buffer !== this.#head) return undefined;
    if (buffer === this.#usual && length === LANDING_LENGTH) this.#isWide ||= this.#widths.take();
    else if (this.#isWide && length < LANDING_LENGTH) this.close();
    return this.#wide.subarray(0, length);
  }

  /** Reads no more than others from now on. */
  close(): void {
    if (this.#isWide) this.#widths.give();
    this.#isWide = false;
  }
}
