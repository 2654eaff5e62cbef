import { spawnSync } from "node:child_process";
import { BrokersRange } from "./brokers-range.ts";
import { GroupsRange } from "./groups-range.ts";
import { readOptions, type SimulatorOptions } from "./read-options.ts";
import type { SeedRange } from "./seed-range.ts";
import { runInWorkers } from "./workers.ts";

const USAGE = `Usage: npm run simulator -- [--seeds FROM..TO | --seed N] [options]

Replicas of some groups, their clients, network, disks and clocks in one thread, from one seed: lost,
repeated, late and cut messages, kills, power loss, changed bits, slow disks, clocks that drift. Each seed has
at least 10,000 ticks, 200 operations and 20 faults, and is the same run whenever it is run with the same
commit. Without seeds, 40 fresh ones.

  --brokers        three whole brokers and their clients instead, under such faults, for as long at least
  --replicas N     as many replicas (1..7) in every run; without it the seed says
  --ticks N        ticks of 10 ms with faults, before all is healed (default 10000)
  --mutation NAME  with a planted bug, which must be found
  --outcomes       judge by what clients and logs show only: no look at quorums, disks and numbering
  --minutes N      end a range early; the last line says where to go on
  --workers N      so many processes, each with a part of the seeds and lines of its own (default 1)
  --trace          every event a line
`;

/** What the seeds were run with; they mean other runs with another commit. */
function commit(): string {
  const told = (...args: string[]) => spawnSync("git", args, { encoding: "utf8" }).stdout?.trim() ?? "";
  const changed = told("status", "--porcelain") === "" ? "" : ", with changes";
  return `${told("rev-parse", "--short", "HEAD") || "unknown"}${changed}`;
}

async function run(range: SeedRange, { from, to, minutes }: SimulatorOptions): Promise<boolean> {
  const endMs = performance.now() + minutes * 60_000;
  let isStopped = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => (isStopped = true));
  let seed = from;
  for (; seed <= to && !isStopped && performance.now() < endMs; seed += 1) {
    await range.run(seed);
    const count = seed - from + 1;
    if (count % range.progressEvery === 0) console.log(`${count} seeds, ${range.failed} failed`);
  }
  const lines = range.lines();
  for (const line of lines.slice(0, -1)) console.log(line);
  console.log(`${seed - from} seeds, ${lines.at(-1)}: ${range.failed} failed`);
  if (seed <= to) console.log(`go on with --seeds ${seed}..${to}${range.flags}`);
  return range.failed === 0;
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
if (options !== undefined && options.workers > 1) {
  process.exitCode = (await runInWorkers(options, process.argv.slice(1))) ? 0 : 1;
} else if (options !== undefined) {
  const range = options.isOfBrokers ? new BrokersRange(options) : new GroupsRange(options);
  console.log(`seeds ${options.from}..${options.to}${range.flags}, commit ${commit()}`);
  process.exitCode = (await run(range, options)) ? 0 : 1;
}
