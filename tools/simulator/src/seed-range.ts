/** A kind of runs of which one is made from each seed of a range, and what is summed up of them. */
export interface SeedRange {
  /** How a run is asked for besides its seeds, with a space in front. */
  readonly flags: string;
  /** Seeds after which there is a line of progress, for people who wait. */
  readonly progressEvery: number;
  /** Seeds that broke a promise. */
  readonly failed: number;
  /** Runs one seed and says what it broke. */
  run(seed: number): Promise<void>;
  /** What was gone through so far, without the number of seeds; the last line is for the sums. */
  lines(): readonly string[];
}
