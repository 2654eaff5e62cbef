import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "@millrace/testkit";
import { clusterCommand } from "./cluster/cluster-command.ts";
import { damageCommand } from "./damage/damage-command.ts";
import { fullDiskCommand } from "./full-disk/full-disk-command.ts";
import { asViolation, type Violation } from "./oracle/violation.ts";
import { scenarioCommand } from "./scenarios/scenario-command.ts";
import { serverEntry } from "./server/built-server.ts";
import { ServerProcess } from "./server/server-process.ts";
import { shardSettings } from "./server/shard-settings.ts";
import { simulateCommand } from "./simulate/simulate-command.ts";
import { soak } from "./soak/soak.ts";
import { type RoundReport, TortureRun } from "./torture-run.ts";
import { trace } from "./trace/trace.ts";
import { wholeNumber } from "./whole-number.ts";

const USAGE = `Usage: npm run torture -- [options]
       npm run torture -- soak [--minutes N] [--events N] [--seed N]   members of a group come and go
       npm run torture -- simulate [--seeds FROM..TO]   a broker over a failing simulated disk
       npm run torture -- cluster [--rounds N]   three nodes: killed, stopped, cut off, a directory lost
       npm run torture -- damage [--rounds N]   files are flipped, cut and removed between starts
       npm run torture -- full-disk [--rounds N] [--room mount|limit]   the disk fills, and space returns
       npm run torture -- scenario B-01 ...   those of docs/fault-scenarios.md at full size
       npm run torture -- trace    no reply leaves before its writes returned (needs strace)

Kills a built server under load, starts it again and compares everything with what was acknowledged.

  --rounds N     rounds (default 100)
  --seed N       32 bits of chance to repeat; the run prints its own
  --shards N     threads (default 1), as sharding.cpu_allocation
  --keep         keep the data folder also when everything passed
  --server PATH  a server's entry to run in place of this repository's
  --folder PATH  where the data folder is made (default: the system's temporary folder)
`;

/**
 * A folder grows by some 10 MiB a round; a fresh one now and then keeps starts and the last reading short.
 */
const ROUNDS_PER_FOLDER = 100;

/** Rounds that passed, on all folders. */
let passed = 0;

interface Options {
  readonly rounds: number;
  readonly seed: number;
  readonly shards: number;
  readonly keep: boolean;
  readonly folder: string;
  /** Entry of the server to run. */
  readonly entry: string;
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "100" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 32)) },
      shards: { type: "string", default: "1" },
      keep: { type: "boolean", default: false },
      folder: { type: "string", default: tmpdir() },
      server: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  return {
    rounds: wholeNumber("rounds", values.rounds, 1_000_000),
    seed: wholeNumber("seed", values.seed, 2 ** 32 - 1),
    shards: wholeNumber("shards", values.shards, 64),
    keep: values.keep,
    folder: resolve(values.folder),
    entry: serverEntry(values.server),
  };
}

function printRound(number: number, report: RoundReport): void {
  const { fault, killed, startsKilled, acknowledgedCount, seenCount, startMs, roundMs } = report;
  const when = fault.isAfterLogin ? "of load" : "among the logins";
  const kills = startsKilled.map((where) => `, a start ${where}`).join("");
  const counts = `${acknowledgedCount} acknowledged, ${seenCount} read`;
  const times = `start ${startMs.toFixed(0)} ms, round ${(roundMs / 1000).toFixed(1)} s`;
  console.log(`round ${number}: killed ${killed} ${when}${kills}; ${counts}; ${times}`);
}

/** Runs rounds `first` to `last` on one data folder. Throws Violation. */
async function runRounds(run: TortureRun, first: number, last: number): Promise<void> {
  await run.begin();
  for (let number = first; number <= last; number += 1) {
    printRound(number, await run.round(number));
    passed += 1;
  }
  console.log(`after a clean stop: ${await run.finish()} messages read`);
}

/** Runs some rounds on a folder of their own. False when they found a violation; the folder stays then. */
async function runOnFreshFolder(options: Options, first: number, last: number): Promise<boolean> {
  const folder = mkdtempSync(join(options.folder, "millrace-torture-"));
  const server = new ServerProcess({
    entry: options.entry,
    folder,
    port: await freePort(),
    settings: shardSettings(options.shards),
    hasKillPoints: true,
  });
  const onExit = () => server.killNow();
  process.on("exit", onExit);
  const run = new TortureRun(server, (options.seed + first - 1) >>> 0);
  let violation: Violation | undefined;
  await runRounds(run, first, last).catch((error: unknown) => {
    violation = asViolation(error);
  });
  await server.kill();
  process.off("exit", onExit);
  console.log(run.summary());
  if (violation !== undefined) {
    console.log(`\nVIOLATION (${violation.kind}) after ${passed} good rounds: ${violation.message}`);
  }
  if (violation !== undefined || options.keep) console.log(`data and log: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  return violation === undefined;
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options === undefined) return console.log(USAGE);
  console.log(`seed ${options.seed}`);
  mkdirSync(options.folder, { recursive: true });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      console.log(`\n${signal}; the data stays in ${options.folder}`);
      process.exit(130);
    });
  }
  let isGood = true;
  for (let first = 1; isGood && first <= options.rounds; first += ROUNDS_PER_FOLDER) {
    isGood = await runOnFreshFolder(options, first, Math.min(options.rounds, first + ROUNDS_PER_FOLDER - 1));
  }
  console.log(`${passed} passed, ${isGood ? 0 : 1} failed`);
  process.exit(isGood ? 0 : 1);
}

const [, , command, ...rest] = process.argv;
if (command === "soak") await soak(rest);
else if (command === "simulate") await simulateCommand(rest);
else if (command === "cluster") await clusterCommand(rest);
else if (command === "damage") await damageCommand(rest);
else if (command === "full-disk") await fullDiskCommand(rest);
else if (command === "scenario") scenarioCommand(rest);
else if (command === "trace") await trace();
else await main();
