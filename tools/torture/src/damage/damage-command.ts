import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "@millrace/testkit";
import { asViolation } from "../oracle/violation.ts";
import { serverEntry } from "../server/built-server.ts";
import { shardSettings } from "../server/shard-settings.ts";
import { wholeNumber } from "../whole-number.ts";
import { DamageRun } from "./damage-run.ts";

/** Rounds of load and kill that fill a folder; the shapes that kills leave are among what is damaged. */
const FILL_ROUNDS = 2;
/** Damages of one filled folder, each on a copy of its own. */
const DAMAGES_PER_FOLDER = 12;

/**
 * Damages files between starts: flips bits, cuts ends and removes files. Ends the process: 0 when every
 * damage was told and cost no more than what it hit.
 */
export async function damageCommand(args: readonly string[]): Promise<never> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "24" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 32)) },
      shards: { type: "string", default: "1" },
      server: { type: "string" },
      folder: { type: "string", default: tmpdir() },
    },
  });
  const rounds = wholeNumber("rounds", values.rounds, 1_000_000);
  const seed = wholeNumber("seed", values.seed, 2 ** 32 - 1);
  const settings = shardSettings(wholeNumber("shards", values.shards, 64));
  console.log(`seed ${seed}`);
  mkdirSync(resolve(values.folder), { recursive: true });
  let isGood = true;
  for (let first = 1; isGood && first <= rounds; first += DAMAGES_PER_FOLDER) {
    const folder = mkdtempSync(join(resolve(values.folder), "millrace-damage-"));
    const place = {
      entry: serverEntry(values.server),
      folder,
      port: await freePort(),
      settings,
      hasKillPoints: true,
    };
    const run = new DamageRun(place, (seed + first - 1) >>> 0);
    const last = Math.min(rounds, first + DAMAGES_PER_FOLDER - 1);
    isGood = await runRounds(run, first, last).catch((error: unknown) => {
      const { kind, message } = asViolation(error);
      console.log(`\nVIOLATION (${kind}): ${message}`);
      return false;
    });
    await run.end();
    if (isGood) rmSync(folder, { recursive: true, force: true });
  }
  process.exit(isGood ? 0 : 1);
}

async function runRounds(run: DamageRun, first: number, last: number): Promise<boolean> {
  console.log(await run.fill(FILL_ROUNDS));
  for (let number = first; number <= last; number += 1) {
    console.log(`round ${number}: ${await run.damageOnce()}`);
  }
  return true;
}
