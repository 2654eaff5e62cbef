import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "@millrace/testkit";
import { chooseKillPoint, describeKillPoint, type KillPoint } from "../kill-points/kill-point.ts";
import { Violation } from "../oracle/violation.ts";
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
  /** Where it is killed instead, if it comes there in time. */
  readonly point: KillPoint | undefined;
  /** Where each start is killed too: at a point, or after a share of the last whole start's time. */
  readonly startKills: readonly (KillPoint | number)[];
}

const KILL_AFTER_MIN_MS = 50;
const KILL_AFTER_MAX_MS = 1500;
/** Logins take most of a second together; a few rounds are for dying among them. */
const AFTER_LOGIN_CHANCE = 0.85;
/** Share of rounds in which a start is killed, and again with the same chance. */
const START_KILL_CHANCE = 0.3;
const START_KILLS_MAX = 4;
/** Share of kills, under load and of starts, that come at a point of the server's work and not at a time. */
const POINT_CHANCE = 0.5;
/** A point that was not reached by then is not reached: the work repeats itself several times a second. */
const POINT_MAX_MS = 3000;

/** Chooses the fault of a round. */
export function chooseFault(random: SeededRandom): Fault {
  const killAfterMs = KILL_AFTER_MIN_MS + random.below(KILL_AFTER_MAX_MS - KILL_AFTER_MIN_MS);
  const isAfterLogin = random.fraction() < AFTER_LOGIN_CHANCE;
  const isAtPoint = () => random.fraction() < POINT_CHANCE;
  const point = isAtPoint() ? chooseKillPoint(random, "load") : undefined;
  const startKills: (KillPoint | number)[] = [];
  while (startKills.length < START_KILLS_MAX && random.fraction() < START_KILL_CHANCE) {
    startKills.push(isAtPoint() ? chooseKillPoint(random, "start") : random.fraction());
  }
  return { killAfterMs, isAfterLogin, point, startKills };
}

/**
 * Kills the server under its load, early when `signal` says that the round has failed. Says where it was
 * killed.
 */
export async function killUnderLoad(
  server: ServerProcess,
  fault: Fault,
  signal: AbortSignal,
): Promise<string> {
  const { point, killAfterMs } = fault;
  if (point === undefined) {
    await sleep(killAfterMs, undefined, { signal }).catch(() => {});
    await server.kill();
    return `after ${killAfterMs} ms`;
  }
  const isReached = await server.killAt(point, POINT_MAX_MS, signal);
  return isReached
    ? describeKillPoint(point)
    : `after ${POINT_MAX_MS} ms without ${describeKillPoint(point)}`;
}

/** How a server came back. */
export interface Return {
  /** Milliseconds of the last start, the whole one. */
  readonly startMs: number;
  /** Where the starts before it were killed. */
  readonly killed: readonly string[];
}

/**
 * Brings the server back, killing the starts that the fault names.
 *
 * @param lastStartMs  how long the last whole start took
 */
export async function comeBack(server: ServerProcess, fault: Fault, lastStartMs: number): Promise<Return> {
  const killed: string[] = [];
  for (const kill of fault.startKills) {
    if (typeof kill === "number") {
      await server.startAndKill(kill * lastStartMs);
      killed.push(`after ${(kill * lastStartMs).toFixed(0)} ms`);
    } else {
      const outcome = await server.startAndKillAt(kill);
      if (outcome === "refused") throw new Violation("server", `a start was refused: ${server.lastLine()}`);
      const where = describeKillPoint(kill);
      killed.push(outcome === "killed" ? where : `when ready, without ${where}`);
    }
  }
  return { startMs: await server.start(), killed };
}
