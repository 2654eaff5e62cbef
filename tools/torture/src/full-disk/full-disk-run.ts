import { setTimeout as sleep } from "node:timers/promises";
import { ErrorCode, isCodedError } from "@millrace/client";
import { SeededRandom } from "@millrace/testkit";
import { chooseKillPoint, describeKillPoint, type KillPoint } from "../kill-points/kill-point.ts";
import { Violation } from "../oracle/violation.ts";
import type { ServerProcess } from "../server/server-process.ts";
import { TortureRun } from "../torture-run.ts";
import type { Room } from "./room.ts";

/** A load of several MiB a second has filled what is left by then. */
const FILL_MAX_MS = 15_000;
/** Space is looked for with the operations that come, every second; a slow machine has time for some. */
const RESUME_MAX_MS = 30_000;
const FULL_MIN_MS = 100;
const FULL_MAX_MS = 1000;
const START_KILL_CHANCE = 0.4;
/** A disk that a start finds full has this much left at most. */
const REST_MAX = 96 * 1024;

/** What happens in one round, chosen in full beforehand. */
interface Plan {
  /** Bytes left once everybody works. */
  readonly leftLength: number;
  readonly fullMs: number;
  /** Whether space returns to the running server, or after it was killed and started on the full disk. */
  readonly isKilledFull: boolean;
  readonly restLength: number;
  readonly startKill: KillPoint | undefined;
}

/** Rounds in which the disk fills while a server writes, starts and recovers, and space returns. */
export class FullDiskRun {
  readonly #server: ServerProcess;
  readonly #room: Room;
  readonly #random: SeededRandom;
  readonly #run: TortureRun;

  constructor(server: ServerProcess, room: Room, seed: number) {
    this.#server = server;
    this.#room = room;
    this.#random = new SeededRandom(seed);
    this.#run = new TortureRun(server, seed);
  }

  /** A first start without room is refused; with room it succeeds, and the topics are made. */
  async begin(): Promise<void> {
    this.#room.squeeze(0);
    const reason = await this.#server.startOrRefuse();
    if (reason === undefined)
      throw new Violation("server", "a first start succeeded though there was no room");
    checkReason(reason);
    this.#room.release();
    await this.#run.begin();
  }

  /** One round; answers what happened. Throws Violation. */
  async round(number: number): Promise<string> {
    const plan = this.#choose();
    const end = (signal: AbortSignal) => this.#fillAndEnd(number, plan, signal);
    const told = [await this.#run.load(number, { isAfterLogin: true, mayDiskBeFull: true, end })];
    if (plan.isKilledFull) told.push(...(await this.#startFull(plan)));
    this.#room.release();
    await this.#server.start();
    told.push(`${await this.#run.verify(false)} read`);
    return told.join(", ");
  }

  /** Stops the server in order, starts it again, and reads everything. Throws Violation. */
  finish(): Promise<number> {
    return this.#run.finish();
  }

  summary(): string {
    return this.#run.summary();
  }

  #choose(): Plan {
    const random = this.#random;
    const isStartKilled = random.fraction() < START_KILL_CHANCE;
    return {
      leftLength: 64 * 1024 + random.below(this.#room.littleMax),
      fullMs: FULL_MIN_MS + random.below(FULL_MAX_MS - FULL_MIN_MS),
      isKilledFull: random.fraction() < 0.5,
      restLength: random.below(REST_MAX),
      startKill: isStartKilled ? chooseKillPoint(random, "start") : undefined,
    };
  }

  /** Ends a load: waits until writes are refused, then kills the server or gives space back first. */
  async #fillAndEnd(number: number, plan: Plan, signal: AbortSignal): Promise<string> {
    const before = this.#run.refusedCount;
    // Only now: everybody is logged in, which needs room too.
    this.#room.squeeze(plan.leftLength, this.#server.pid);
    const isFull = await waitUntil(() => this.#run.refusedCount > before, FILL_MAX_MS, signal);
    if (signal.aborted) return "";
    if (!isFull) throw new Violation("server", `nothing was refused in ${FILL_MAX_MS} ms`);
    await sleep(plan.fullMs);
    let told = `full for ${plan.fullMs} ms`;
    if (!plan.isKilledFull) {
      this.#room.release(this.#server.pid);
      told += `, written again after ${await this.#untilWritable(number, signal)} ms`;
    }
    await this.#server.kill();
    return `${told}, ${this.#run.refusedCount - before} batches refused, killed`;
  }

  /**
   * Waits until every partition and the metadata take writes again. Answers milliseconds. Throws Violation.
   */
  async #untilWritable(number: number, signal: AbortSignal): Promise<string> {
    const startedMs = performance.now();
    let full: readonly string[] = [];
    const isWritable = async () => {
      full = await this.#run.writeEverywhere(number);
      return full.length === 0;
    };
    const isDone = await waitUntil(isWritable, RESUME_MAX_MS, signal);
    if (!isDone && !signal.aborted) {
      const text = `space has returned for ${RESUME_MAX_MS} ms, but there is no room yet for ${full.join(", ")}`;
      throw new Violation("server", text);
    }
    return (performance.now() - startedMs).toFixed(0);
  }

  /** Starts the killed server on a disk that is full, as often as planned; what starts is read. */
  async #startFull(plan: Plan): Promise<string[]> {
    const told: string[] = [];
    this.#room.squeeze(plan.restLength);
    if (plan.startKill !== undefined) told.push(await this.#startAndKill(plan.startKill));
    const reason = await this.#server.startOrRefuse();
    if (reason !== undefined) {
      checkReason(reason);
      told.push("a full start refused");
    } else {
      told.push(await this.#readFull());
    }
    await this.#server.kill();
    return told;
  }

  async #startAndKill(point: KillPoint): Promise<string> {
    const outcome = await this.#server.startAndKillAt(point);
    if (outcome === "refused") checkReason(this.#server.lastLine());
    return `a full start to be killed ${describeKillPoint(point)} was ${outcome}`;
  }

  /** Reads everything from a server on a full disk. Who may not log in, for want of room, hears so. */
  async #readFull(): Promise<string> {
    try {
      return `${await this.#run.verify(false)} read while full`;
    } catch (error) {
      const cause = error instanceof Violation ? error.cause : error;
      if (isCodedError(cause, ErrorCode.DiskFull)) return "no login while full";
      throw error;
    }
  }
}

/** A start that fails for want of room says so. */
function checkReason(reason: string): void {
  if (/no room|DiskFull|disk is full/i.test(reason)) return;
  throw new Violation("server", `a start on a full disk was refused with: ${reason}`);
}

async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (!(await condition())) {
    if (signal.aborted || performance.now() > endMs) return false;
    await sleep(20);
  }
  return true;
}
