import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "@millrace/testkit";
import { asViolation } from "../oracle/violation.ts";
import { serverEntry } from "../server/built-server.ts";
import { ServerProcess } from "../server/server-process.ts";
import { shardSettings } from "../server/shard-settings.ts";
import { wholeNumber } from "../whole-number.ts";
import { FileLimitRoom } from "./file-limit-room.ts";
import { FullDiskRun } from "./full-disk-run.ts";
import { MountedRoom } from "./mounted-room.ts";
import type { Room } from "./room.ts";

/** A file system has room for what this many rounds write. */
const ROUNDS_PER_FOLDER = 15;

/**
 * Runs rounds on a disk that fills while a server writes, starts and recovers. Ends the process: 0 when
 * nothing was lost and writing went on as soon as there was space.
 */
export async function fullDiskCommand(args: readonly string[]): Promise<never> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "20" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 32)) },
      room: { type: "string", default: "any" },
      shards: { type: "string", default: "1" },
      server: { type: "string" },
      folder: { type: "string", default: tmpdir() },
    },
  });
  const rounds = wholeNumber("rounds", values.rounds, 1_000_000);
  const seed = wholeNumber("seed", values.seed, 2 ** 32 - 1);
  console.log(`seed ${seed}`);
  let isGood = true;
  for (let first = 1; isGood && first <= rounds; first += ROUNDS_PER_FOLDER) {
    const last = Math.min(rounds, first + ROUNDS_PER_FOLDER - 1);
    isGood = await runOnFreshRoom({ ...values, seed: (seed + first - 1) >>> 0, first, last });
  }
  process.exit(isGood ? 0 : 1);
}

interface Part {
  readonly room: string;
  readonly shards: string;
  readonly server?: string | undefined;
  readonly folder: string;
  readonly seed: number;
  readonly first: number;
  readonly last: number;
}

async function runOnFreshRoom({
  room: kind,
  shards,
  server: entry,
  folder: parent,
  seed,
  first,
  last,
}: Part): Promise<boolean> {
  mkdirSync(resolve(parent), { recursive: true });
  const folder = mkdtempSync(join(resolve(parent), "millrace-full-disk-"));
  const room = makeRoom(kind, folder);
  const server = new ServerProcess({
    entry: serverEntry(entry),
    folder,
    port: await freePort(),
    settings: shardSettings(wholeNumber("shards", shards, 64)),
    hasKillPoints: true,
    get runner() {
      return room.runner;
    },
  });
  const run = new FullDiskRun(server, room, seed);
  console.log(room.name);
  const isGood = await runRounds(run, first, last).catch((error: unknown) => {
    const { kind, message } = asViolation(error);
    console.log(`\nVIOLATION (${kind}): ${message}\nlog: ${folder}`);
    return false;
  });
  await server.kill();
  console.log(run.summary());
  if (!isGood) return false;
  room.remove();
  rmSync(folder, { recursive: true, force: true });
  return true;
}

/** The room that was asked for; with `any` a file system where this process may mount one, else a limit. */
function makeRoom(kind: string, folder: string): Room {
  const mounted = kind === "limit" ? undefined : MountedRoom.make(folder);
  const room = mounted ?? (kind === "mount" ? undefined : FileLimitRoom.make());
  if (room !== undefined) return room;
  rmSync(folder, { recursive: true, force: true });
  console.log(
    "This needs Linux, and root with mkfs.ext4 and a loop device (--room mount) or prlimit (--room limit).",
  );
  process.exit(1);
}

async function runRounds(run: FullDiskRun, first: number, last: number): Promise<boolean> {
  await run.begin();
  for (let number = first; number <= last; number += 1) {
    const startedMs = performance.now();
    const told = await run.round(number);
    console.log(`round ${number}: ${told}; ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  }
  console.log(`after a clean stop: ${await run.finish()} messages read`);
  return true;
}
