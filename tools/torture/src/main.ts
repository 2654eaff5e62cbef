import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { asViolation } from "./oracle/violation.ts";
import { builtServer } from "./server/built-server.ts";
import { freePort } from "./server/free-port.ts";
import { ServerProcess } from "./server/server-process.ts";
import { type RoundReport, TortureRun } from "./torture-run.ts";

const USAGE = `Usage: npm run torture -- [options]

Kills a built server under load, starts it again and compares everything with what was acknowledged.

  --rounds N     rounds (default 100)
  --seed N       32 bits of chance to repeat; the run prints its own
  --keep         keep the data folder also when everything passed
  --server PATH  a server's entry to run in place of this repository's
  --folder PATH  where the data folder is made (default: the system's temporary folder)
`;

interface Options {
  readonly rounds: number;
  readonly seed: number;
  readonly keep: boolean;
  readonly folder: string;
  /** Entry of the server to run; undefined for the built one. */
  readonly server: string | undefined;
}

function wholeNumber(name: string, text: string, max: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw new Error(`--${name} is no number of 0..${max}`);
  return value;
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "100" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 32)) },
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
    keep: values.keep,
    folder: resolve(values.folder),
    server: values.server === undefined ? undefined : resolve(values.server),
  };
}

function printRound(number: number, report: RoundReport): void {
  const { fault, acknowledgedCount, seenCount, startMs, roundMs } = report;
  const kills =
    fault.startKillsMs.length === 0 ? "" : `, starts killed after ${fault.startKillsMs.join(" ")} ms`;
  const counts = `${acknowledgedCount} acknowledged, ${seenCount} read`;
  const times = `start ${startMs.toFixed(0)} ms, round ${(roundMs / 1000).toFixed(1)} s`;
  console.log(`round ${number}: killed after ${fault.killAfterMs} ms${kills}; ${counts}; ${times}`);
}

/** Runs all rounds; returns how many passed and whether one failed. */
async function runRounds(run: TortureRun, rounds: number): Promise<{ passed: number; failed: number }> {
  let passed = 0;
  try {
    await run.begin();
    for (let number = 1; number <= rounds; number += 1) {
      printRound(number, await run.round(number));
      passed += 1;
    }
    console.log(`after a clean stop: ${await run.finish()} messages read`);
    return { passed, failed: 0 };
  } catch (error) {
    const violation = asViolation(error);
    console.log(`\nVIOLATION in round ${passed + 1} (${violation.kind}): ${violation.message}`);
    return { passed, failed: 1 };
  }
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options === undefined) return console.log(USAGE);
  console.log(`seed ${options.seed}`);
  mkdirSync(options.folder, { recursive: true });
  const folder = mkdtempSync(join(options.folder, "millrace-torture-"));
  const server = new ServerProcess({
    entry: options.server ?? builtServer(),
    folder,
    port: await freePort(),
  });
  process.on("exit", () => server.killNow());
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      console.log(`\n${signal}; the data stays in ${folder}`);
      process.exit(130);
    });
  }
  const run = new TortureRun(server, options.seed);
  const { passed, failed } = await runRounds(run, options.rounds);
  await server.kill();
  console.log(run.summary());
  if (failed > 0 || options.keep) console.log(`data and log: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}

await main();
