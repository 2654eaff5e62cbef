import { setImmediate } from "node:timers/promises";
import { runHistory } from "@millrace/broker/cluster-history";
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

  /** `play` stands in for the histories in tests. */
  constructor({ isTraced }: Pick<SimulatorOptions, "isTraced">, play = runHistory) {
    this.#isTraced = isTraced;
    this.#play = play;
  }

  async run(seed: number): Promise<void> {
    const note = this.#isTraced ? (line: string) => console.log(line) : undefined;
    try {
      const { ticks, operations, acknowledged, faults } = await this.#play(seed, note);
      this.#ticks += ticks;
      this.#operations += operations;
      this.#messages += acknowledged;
      this.#faults += faults;
    } catch (error) {
      this.failed += 1;
      console.log(`VIOLATION with --brokers --seed ${seed}: ${textOf(error)}`);
    }
    // A signal is heard between two runs.
    await setImmediate();
  }

  lines(): readonly string[] {
    const counts = `${this.#ticks} ticks with faults, ${this.#messages} messages acknowledged`;
    return [counts, `${this.#operations} operations, ${this.#faults} faults`];
  }
}

/** A broken history says in its message what it broke; of anything else the stack is shown. */
function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
