import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { asViolation } from "../oracle/violation.ts";
import { Simulation, type SimulationReport, warmUp } from "./simulation.ts";

const USAGE = `Usage: npm run torture -- simulate [--seeds FROM..TO] [--minutes N]
       npm run torture -- simulate --seed N     one run again, every event a line

A whole broker over a simulated disk and clock: kills, power loss, failing and lying disks, changed bits. Each
seed has at least 200 operations and 20 faults, and is the same run whenever it is run with the same commit.
Without seeds, 40 fresh ones. --minutes ends a range early; the last line says where to go on.
`;

/** Seeds of a run that names none. */
const FRESH_COUNT = 40;
const SEED_MAX = 2 ** 32 - 1;
/** A line of progress, for people who wait. */
const PROGRESS_EVERY = 500;

interface Options {
  readonly from: number;
  readonly to: number;
  readonly isTraced: boolean;
  readonly endMs: number;
}

/** Runs the seeds that the arguments name, and ends the process: 0 when every promise held. */
export async function simulateCommand(args: readonly string[]): Promise<never> {
  const options = readOptions(args);
  if (options === undefined) {
    console.log(USAGE);
    process.exit(0);
  }
  const { from, to, isTraced } = options;
  console.log(`seeds ${from}..${to}, commit ${commit()}`);
  await warmUp();
  let [operations, faults, failed, seed] = [0, 0, 0, from];
  for (; seed <= to && performance.now() < options.endMs; seed += 1) {
    const report = await runSeed(seed, isTraced);
    if (report === undefined) failed += 1;
    operations += report?.operations ?? 0;
    faults += report?.faults ?? 0;
    const count = seed - from + 1;
    if (count % PROGRESS_EVERY === 0) console.log(`${count} seeds, ${failed} failed`);
  }
  const count = seed - from;
  console.log(`${count} seeds, ${operations} operations, ${faults} faults: ${failed} failed`);
  if (seed <= to) console.log(`go on with --seeds ${seed}..${to}`);
  process.exit(failed === 0 ? 0 : 1);
}

/** Runs one seed; says what it broke and returns nothing when it did. */
async function runSeed(seed: number, isTraced: boolean): Promise<SimulationReport | undefined> {
  const note = isTraced ? (line: string) => console.log(line) : () => {};
  try {
    return await new Simulation(seed, note).run();
  } catch (error) {
    const { kind, message } = asViolation(error);
    console.log(`VIOLATION (${kind}) with --seed ${seed}: ${message}`);
    return undefined;
  }
}

function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string" },
      seed: { type: "string" },
      minutes: { type: "string", default: "Infinity" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const fresh = Math.floor(Math.random() * (SEED_MAX - FRESH_COUNT));
  const text = values.seed ?? values.seeds ?? `${fresh}..${fresh + FRESH_COUNT - 1}`;
  const [from = Number.NaN, to = from] = text.split("..").map(Number);
  const isRange = [from, to].every((seed) => Number.isInteger(seed) && seed >= 0 && seed <= SEED_MAX);
  if (!isRange || to < from) throw new Error(`${text} is no seed and no range FROM..TO of 0..${SEED_MAX}`);
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes ${values.minutes} is no number above 0`);
  return { from, to, isTraced: values.seed !== undefined, endMs: performance.now() + minutes * 60_000 };
}

/** What the seeds were run with; they mean other runs with another commit. */
function commit(): string {
  const told = (...args: string[]) => spawnSync("git", args, { encoding: "utf8" }).stdout?.trim() ?? "";
  const changed = told("status", "--porcelain") === "" ? "" : ", with changes";
  return `${told("rev-parse", "--short", "HEAD") || "unknown"}${changed}`;
}
