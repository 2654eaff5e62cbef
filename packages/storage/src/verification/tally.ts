import type { VerifyCursor } from "./verify-cursor.ts";

/**
 * What is wrong at a place: a batch or an op record that does not verify, a file that ends before what it
 * must hold, or one that is gone.
 */
export type DamageKind = "batch" | "record" | "short" | "missing";

/** One place that does not verify. */
export interface Damage {
  readonly kind: DamageKind;
  /** File, relative to the data directory. */
  readonly path: string;
  /** First wrong byte as far as it can be told: the frame, the batch or the record it lies in. */
  readonly position: number;
  /** First message of the batch, when a record names it. */
  readonly offset: number | undefined;
}

/** What a step looked at and found. */
export interface VerifyStep {
  /** Bytes of records and batches. */
  readonly bytes: number;
  readonly batches: number;
  readonly messages: number;
  readonly damages: readonly Damage[];
  /** Where the next step begins; nothing at the end of what was journaled when the step began. */
  readonly next: VerifyCursor | undefined;
}

/** Damages told in one step; a file of nothing but damage takes several steps. */
const DAMAGES_MAX = 64;

/** What a step of a verification has counted and found so far. */
export class Tally {
  bytes = 0;
  batches = 0;
  messages = 0;
  readonly damages: Damage[] = [];
  readonly #lengthMax: number;

  /** @param lengthMax bytes after which the step ends; the batch that reaches it is still checked */
  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  get isFull(): boolean {
    return this.bytes >= this.#lengthMax || this.damages.length >= DAMAGES_MAX;
  }

  /** Counts a batch that was looked at. */
  batch(length: number, count: number): void {
    this.bytes += length;
    this.batches += 1;
    this.messages += count;
  }

  damage(damage: Damage): void {
    this.damages.push(damage);
  }

  /** The answer of the step; `next` is where the following one begins. */
  step(next: VerifyCursor | undefined): VerifyStep {
    const { bytes, batches, messages, damages } = this;
    return { bytes, batches, messages, damages, next };
  }
}
