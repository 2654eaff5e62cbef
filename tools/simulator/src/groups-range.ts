import { setImmediate } from "node:timers/promises";
import { Violation } from "./oracle/violation.ts";
import type { SimulatorOptions } from "./read-options.ts";
import { RunCounts } from "./run-counts.ts";
import type { SeedRange } from "./seed-range.ts";
import { Simulation } from "./simulation.ts";

/** Runs of replicas alone. */
export class GroupsRange implements SeedRange {
  readonly flags: string;
  readonly progressEvery = 500;
  failed = 0;
  readonly #options: SimulatorOptions;
  readonly #counts = new RunCounts();
  #operations = 0;
  #faults = 0;

  constructor(options: SimulatorOptions) {
    this.#options = options;
    this.flags = flagsOf(options);
  }

  async run(seed: number): Promise<void> {
    const note = this.#options.isTraced ? (line: string) => console.log(line) : undefined;
    try {
      const { operations, faults, counts } = new Simulation(seed, this.#options, note).run();
      this.#operations += operations;
      this.#faults += faults;
      this.#counts.add(counts);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.failed += 1;
      console.log(`VIOLATION (${error.kind}) with --seed ${seed}${this.flags} ${error.message}`);
    }
    // A signal is heard between two runs.
    await setImmediate();
  }

  lines(): readonly string[] {
    return [String(this.#counts), `${this.#operations} operations, ${this.#faults} faults`];
  }
}

function flagsOf({ replicas, ticks, mutation, isOutcomeOnly }: SimulatorOptions): string {
  const flags = Object.entries({ replicas, ticks, mutation }).filter(([, value]) => value !== undefined);
  return flags.map(([name, value]) => ` --${name} ${value}`).join("") + (isOutcomeOnly ? " --outcomes" : "");
}
