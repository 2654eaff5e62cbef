import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "@millrace/testkit";
import type { ServerProcess } from "../server/server-process.ts";

/**
 * What happens to the server in one round. Chosen in full beforehand, so that a seed tells the same story
 * again.
 */
export interface Fault {
  /** Milliseconds of load before `kill -9`. */
  readonly killAfterMs: number;
  /** Whether they count from when everybody is logged in, or from the first attempt to connect. */
  readonly isAfterLogin: boolean;
  /** How far each start comes before it is killed too, as a share of the last whole start's time. */
  readonly startKills: readonly number[];
}

const KILL_AFTER_MIN_MS = 50;
const KILL_AFTER_MAX_MS = 1500;
/** Logins take most of a second together; a few rounds are for dying among them. */
const AFTER_LOGIN_CHANCE = 0.85;
/** Share of rounds in which a start is killed, and again with the same chance. */
const START_KILL_CHANCE = 0.3;
const START_KILLS_MAX = 4;

/** Chooses the fault of a round. */
export function chooseFault(random: SeededRandom): Fault {
  const killAfterMs = KILL_AFTER_MIN_MS + random.below(KILL_AFTER_MAX_MS - KILL_AFTER_MIN_MS);
  const isAfterLogin = random.fraction() < AFTER_LOGIN_CHANCE;
  const startKills: number[] = [];
  while (startKills.length < START_KILLS_MAX && random.fraction() < START_KILL_CHANCE) {
    startKills.push(random.fraction());
  }
  return { killAfterMs, isAfterLogin, startKills };
}

/** Kills the server under its load, early when `signal` says that the round has failed. */
export async function killUnderLoad(server: ServerProcess, fault: Fault, signal: AbortSignal): Promise<void> {
  await sleep(fault.killAfterMs, undefined, { signal }).catch(() => {});
  await server.kill();
}

/**
 * Brings the server back, killing the starts that the fault names. Returns milliseconds of the last one.
 *
 * @param lastStartMs  how long the last whole start took
 */
export async function comeBack(server: ServerProcess, fault: Fault, lastStartMs: number): Promise<number> {
  for (const share of fault.startKills) await server.startAndKill(share * lastStartMs);
  return server.start();
}
