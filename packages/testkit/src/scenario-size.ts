/** Set to `whole` by `npm run torture -- scenario`. */
const SIZE_VARIABLE = "MILLRACE_SCENARIO_SIZE";

/** How much of a fault scenario runs: a part with every push, the whole of it by its command. */
export interface ScenarioSizes {
  readonly push: number;
  readonly whole: number;
}

/** The number that applies to this run. */
export function scenarioSize({ push, whole }: ScenarioSizes): number {
  return process.env[SIZE_VARIABLE] === "whole" ? whole : push;
}
