import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "@millrace/testkit";
import type { ServerProcess } from "../server/server-process.ts";

/** What happens to the server in one round. Chosen in full beforehand, so that a seed tells the same story again. */
export interface Fault {
  /** Milliseconds of load before `kill -9`. */
  readonly killAfterMs: number;
  /** Whether they count from when everybody is logged in, or from the first attempt to connect. */
  readonly isAfterLogin: boolean;
  /** Milliseconds into each start after which it is killed too, before the start that counts. */
  readonly startKillsMs: readonly number[];
}

const KILL_AFTER_MIN_MS = 50;
const KILL_AFTER_MAX_MS = 1500;
/** Logins take most of a second together; a few rounds are for dying among them. */
const AFTER_LOGIN_CHANCE = 0.85;
/** Share of rounds in which a start is killed, and again with the same chance. */
const START_KILL_CHANCE = 0.3;
/** A start on a few hundred MiB takes about this long: kills hit every part of it, mostly recovery. */
const START_KILL_MAX_MS = 400;
const START_KILLS_MAX = 4;

/** Chooses the fault of a round. */
export function chooseFault(random: SeededRandom): Fault {
  const killAfterMs = KILL_AFTER_MIN_MS + random.below(KILL_AFTER_MAX_MS - KILL_AFTER_MIN_MS);
  const isAfterLogin = random.fraction() < AFTER_LOGIN_CHANCE;
  const startKillsMs: number[] = [];
  while (startKillsMs.length < START_KILLS_MAX && random.fraction() < START_KILL_CHANCE) {
    startKillsMs.push(random.below(START_KILL_MAX_MS));
  }
  return { killAfterMs, isAfterLogin, startKillsMs };
}

/** Kills the server under its load, early when `signal` says that the round has failed. */
export async function killUnderLoad(server: ServerProcess, fault: Fault, signal: AbortSignal): Promise<void> {
  await sleep(fault.killAfterMs, undefined, { signal }).catch(() => {});
  await server.kill();
}

/** Brings the server back, killing the starts that the fault names. Returns milliseconds of the last one. */
export async function comeBack(server: ServerProcess, fault: Fault): Promise<number> {
  for (const delayMs of fault.startKillsMs) await server.startAndKill(delayMs);
  return server.start();
}
