import { spawnSync } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import { Violation } from "./oracle/violation.ts";
import { readOptions, type SimulatorOptions } from "./read-options.ts";
import { RunCounts } from "./run-counts.ts";
import { Simulation, type SimulationReport } from "./simulation.ts";

const USAGE = `Usage: npm run simulator -- [--seeds FROM..TO | --seed N] [options]

Replicas of some groups, their clients, network, disks and clocks in one thread, from one seed: lost,
repeated, late and cut messages, kills, power loss, changed bits, slow disks, clocks that drift. Each seed has
at least 10,000 ticks, 200 operations and 20 faults, and is the same run whenever it is run with the same
commit. Without seeds, 40 fresh ones.

  --replicas N     as many replicas (1..7) in every run; without it the seed says
  --ticks N        ticks of 10 ms with faults, before all is healed (default 10000)
  --mutation NAME  with a planted bug, which must be found
  --outcomes       judge by what clients and logs show only: no look at quorums, disks and numbering
  --minutes N      end a range early; the last line says where to go on
  --trace          every event a line
`;

/** A line of progress, for people who wait. */
const PROGRESS_EVERY = 500;

/** Sums of a range. */
interface Totals {
  operations: number;
  faults: number;
  failed: number;
  readonly counts: RunCounts;
}

/** What the seeds were run with; they mean other runs with another commit. */
function commit(): string {
  const told = (...args: string[]) => spawnSync("git", args, { encoding: "utf8" }).stdout?.trim() ?? "";
  const changed = told("status", "--porcelain") === "" ? "" : ", with changes";
  return `${told("rev-parse", "--short", "HEAD") || "unknown"}${changed}`;
}

/** Runs one seed; says what it broke and returns nothing when it did. */
function runSeed(seed: number, options: SimulatorOptions): SimulationReport | undefined {
  const note = options.isTraced ? (line: string) => console.log(line) : undefined;
  try {
    return new Simulation(seed, options, note).run();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    console.log(`VIOLATION (${error.kind}) with --seed ${seed}${flagsOf(options)} ${error.message}`);
    return undefined;
  }
}

function flagsOf({ replicas, ticks, mutation, isOutcomeOnly }: SimulatorOptions): string {
  const flags = Object.entries({ replicas, ticks, mutation }).filter(([, value]) => value !== undefined);
  return flags.map(([name, value]) => ` --${name} ${value}`).join("") + (isOutcomeOnly ? " --outcomes" : "");
}

function addTo(totals: Totals, report: SimulationReport | undefined): void {
  if (report === undefined) totals.failed += 1;
  else {
    totals.operations += report.operations;
    totals.faults += report.faults;
    totals.counts.add(report.counts);
  }
}

async function run(options: SimulatorOptions): Promise<boolean> {
  const { from, to } = options;
  const endMs = performance.now() + options.minutes * 60_000;
  let isStopped = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => (isStopped = true));
  const totals: Totals = { operations: 0, faults: 0, failed: 0, counts: new RunCounts() };
  let seed = from;
  for (; seed <= to && !isStopped && performance.now() < endMs; seed += 1) {
    const report = runSeed(seed, options);
    addTo(totals, report);
    const count = seed - from + 1;
    if (count % PROGRESS_EVERY === 0) console.log(`${count} seeds, ${totals.failed} failed`);
    await setImmediate();
  }
  const { operations, faults, failed, counts } = totals;
  console.log(String(counts));
  console.log(`${seed - from} seeds, ${operations} operations, ${faults} faults: ${failed} failed`);
  if (seed <= to) console.log(`go on with --seeds ${seed}..${to}${flagsOf(options)}`);
  return failed === 0;
}

// Who reads the first lines of a trace only has seen enough.
process.stdout.on("error", () => process.exit(1));
/** Undefined when there is nothing to run: help is shown, or what is wrong with the arguments. */
function optionsOrAdvice(): SimulatorOptions | undefined {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options === undefined) console.log(USAGE);
    return options;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}

const options = optionsOrAdvice();
if (options !== undefined) {
  console.log(`seeds ${options.from}..${options.to}, commit ${commit()}`);
  process.exitCode = (await run(options)) ? 0 : 1;
}
