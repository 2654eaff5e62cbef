/** A running timer; `cancel` may be called any number of times, also after it fired. */
export interface Timer {
  cancel(): void;
}

/** Time as a replica sees it. Real clocks live in `platform/node`; the simulator's is a count. */
export interface Clock {
  /**
   * Wall clock in microseconds since the Unix epoch, for stamps only. May step back; callers guard their own
   * order.
   */
  wallMicros(): number;
  /** Monotonic milliseconds since an arbitrary start, for time-outs and measurements. */
  monotonicMs(): number;
  /** Calls `callback` once after `delayMs`. Does not keep the process alive by itself. */
  setTimer(delayMs: number, callback: () => void): Timer;
  /**
   * Calls `callback` after the current event's other work, before the next event: the place to flush what it
   * queued.
   */
  afterEvent(callback: () => void): void;
}

/** Source of chance: cryptographic in `platform/node`, seeded in the simulator. */
export interface Random {
  /** `length` random bytes in a new array the caller owns. */
  bytes(length: number): Uint8Array;
  /** A number in [0, 1). */
  fraction(): number;
}
