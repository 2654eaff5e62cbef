import type { Clock, Log, LogFacts } from "@millrace/platform";

/** A line of one key is written at most this often; strangers choose how often there is reason for one. */
const SPARSE_MS = 10_000;

interface Told {
  readonly atMs: number;
  untold: number;
}

/** Warnings that may have cause to be written a thousand times a second. Keys come from a closed list. */
export class SparseLog {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #told = new Map<string, Told>();

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Writes the line, with how many of its key were left out since the last one; or leaves it out. */
  warn(key: string, message: string, facts: LogFacts): void {
    const last = this.#told.get(key);
    const nowMs = this.#clock.monotonicMs();
    if (last !== undefined && nowMs - last.atMs < SPARSE_MS) {
      last.untold++;
      return;
    }
    const leftOut = last === undefined || last.untold === 0 ? {} : { leftOut: last.untold };
    this.#told.set(key, { atMs: nowMs, untold: 0 });
    this.#log.warn(message, { ...facts, ...leftOut });
  }
}
