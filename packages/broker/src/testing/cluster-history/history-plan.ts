import type { SimRandom } from "@millrace/platform/sim";

/** Smallest segment that a node of a history allows: a few batches fill it. */
export const SEGMENT_SIZE_MIN = 2048;
/** Milliseconds between two looks of the nodes at what has expired. */
export const CLEANER_INTERVAL_MS = 3000;
const SEGMENT_SIZES = [SEGMENT_SIZE_MIN, 2 * SEGMENT_SIZE_MIN, 4 * SEGMENT_SIZE_MIN] as const;
const EXPIRIES_MS = [20_000, 40_000] as const;

/** What a topic is like. */
export interface TopicPlan {
  /** Bytes; nothing for one that no history fills. */
  readonly segmentSize: number | undefined;
  readonly isPurged: boolean;
  /** Its oldest segments are deleted now and then. */
  readonly isTrimmed: boolean;
  /** Its messages expire. */
  readonly expiryMs: number | undefined;
}

/** Which polls of a group's members store the offset of what they bring. */
export type AutoCommits = "never" | "some" | "all";

/** What a seed plays beside its faults. */
export class HistoryPlan {
  readonly autoCommits: AutoCommits;
  /** The first topic and most others have small segments. */
  readonly isRolling: boolean;
  readonly #random: SimRandom;

  /** @param random  of its own: where segments do not roll, nothing else depends on it */
  constructor(random: SimRandom) {
    this.#random = random;
    this.isRolling = random.chance(0.6);
    this.autoCommits = (["never", "never", "some", "all"] as const)[random.below(4)]!;
  }

  /** The topic that is made as so many-th: every other one loses what it has now and then. */
  topic(number: number): TopicPlan {
    const isPermanent = number % 2 === 1;
    const kept = { isPurged: false, isTrimmed: false, expiryMs: undefined };
    if (!this.isRolling || !(number === 1 || this.#random.chance(0.75)))
      return { ...kept, segmentSize: undefined, isPurged: !isPermanent };
    const segmentSize = this.#oneOf(SEGMENT_SIZES);
    if (isPermanent) return { ...kept, segmentSize };
    const isTrimmed = this.#random.chance(0.75);
    const isPurged = !isTrimmed || this.#random.chance(0.4);
    const expiryMs = isTrimmed && this.#random.chance(0.4) ? this.#oneOf(EXPIRIES_MS) : undefined;
    return { segmentSize, isPurged, isTrimmed, expiryMs };
  }

  /** Whether one more poll of a member stores the offset of what it brings. */
  isAutoCommit(): boolean {
    return this.autoCommits === "all" || (this.autoCommits === "some" && this.#random.chance(0.5));
  }

  #oneOf<T>(all: readonly T[]): T {
    return all[this.#random.below(all.length)]!;
  }
}
