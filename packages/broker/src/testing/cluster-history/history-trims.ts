/** Wall clocks of two nodes differ by so much at most. */
export const CLOCK_SKEW_MS = 10_000;

/** What is known of a message when it is sent for the first time. */
export interface TrimSending {
  /** Deletions of segments that had ended by then; nothing when one was under way. */
  readonly behindTrim: number | undefined;
  readonly sentMs: number;
}

/** What may be taken from the front of a partition: by deletions of its segments, and by expiry. */
export class Trims {
  readonly #expiryMs: number | undefined;
  readonly #nowMs: () => number;
  #begun = 0;
  #ended = 0;

  constructor({ nowMs, expiryMs }: { nowMs(): number; readonly expiryMs?: number | undefined }) {
    this.#nowMs = nowMs;
    this.#expiryMs = expiryMs;
  }

  /** A deletion of segments is about to be asked for. */
  begins(): void {
    this.#begun += 1;
  }

  /** It was answered. */
  ends(): void {
    this.#ended += 1;
  }

  /** About a message that is about to be sent for the first time. */
  sending(): TrimSending {
    const behindTrim = this.#begun === this.#ended ? this.#ended : undefined;
    return { behindTrim, sentMs: this.#nowMs() };
  }

  /** A deletion was asked for that may have met the message, or it may have expired by somebody's clock. */
  mayTake({ behindTrim, sentMs }: TrimSending): boolean {
    if (behindTrim !== this.#begun) return true;
    return this.#expiryMs !== undefined && this.#nowMs() - sentMs >= this.#expiryMs - CLOCK_SKEW_MS;
  }
}
