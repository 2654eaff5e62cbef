import { setImmediate } from "node:timers/promises";
import { type HistoryEnd, runHistory } from "@millrace/broker/cluster-history";
import type { SimulatorOptions } from "./read-options.ts";
import type { SeedRange } from "./seed-range.ts";

/** Histories of whole brokers. */
export class BrokersRange implements SeedRange {
  readonly flags = " --brokers";
  readonly progressEvery = 50;
  failed = 0;
  readonly #isTraced: boolean;
  readonly #play: typeof runHistory;
  #ticks = 0;
  #operations = 0;
  #messages = 0;
  #faults = 0;
  #rolls = 0;
  #rollLosses = 0;
  #trims = 0;
  #trimmed = 0;
  #autoCommits = 0;

  /** `play` stands in for the histories in tests. */
  constructor({ isTraced }: Pick<SimulatorOptions, "isTraced">, play = runHistory) {
    this.#isTraced = isTraced;
    this.#play = play;
  }

  async run(seed: number): Promise<void> {
    const note = this.#isTraced ? (line: string) => console.log(line) : undefined;
    try {
      this.#add(await this.#play(seed, note));
    } catch (error) {
      this.failed += 1;
      console.log(`VIOLATION with --brokers --seed ${seed}: ${textOf(error)}`);
    }
    // A signal is heard between two runs.
    await setImmediate();
  }

  #add(end: HistoryEnd): void {
    this.#ticks += end.ticks;
    this.#operations += end.operations;
    this.#messages += end.acknowledged;
    this.#faults += end.faults;
    this.#rolls += end.rolls;
    this.#rollLosses += end.rollLosses;
    this.#trims += end.trims;
    this.#trimmed += end.trimmed;
    this.#autoCommits += end.autoCommits;
  }

  lines(): readonly string[] {
    const counts = `${this.#ticks} ticks with faults, ${this.#messages} messages acknowledged`;
    const rolls = `${this.#rolls} segments rolled, ${this.#rollLosses} losses behind that`;
    const trims = `${this.#trims} deletions of segments, ${this.#trimmed} messages gone with them`;
    const polls = `${this.#autoCommits} polls of members with auto-commit`;
    return [counts, `${rolls}, ${trims}, ${polls}`, `${this.#operations} operations, ${this.#faults} faults`];
  }
}

/** A broken history says in its message what it broke; of anything else the stack is shown. */
function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
