import type { Goal } from "./goals.ts";
import { cpuNanosOf, median } from "./process-usage.ts";

/**
 * Rounds that are run and not counted: the first two fill the server's message memory, which the system hands
 * out page by page on first use, and the compiler takes six. Measured one after another when producing: 527,
 * 353, 259, 171, 180, 166, 158, 171 ns a message.
 */
export const WARM_UP_ROUNDS = 6;

/** Requests of one message of 256 bytes in a run: 256 MiB of them, as architecture.md section 9 asks. */
export const SINGLE_REQUESTS = 320_000;

/** What one run cost the server per message, and how fast it went by the wall clock. */
export interface Cost {
  readonly cpuNanosPerMessage: number;
  readonly wallMessagesPerSecond: number;
  readonly megabytesPerSecond: number;
}

/** A figure of the report: ours beside the limit of the same run. */
export interface Figure {
  readonly name: string;
  readonly limitName: string;
  readonly goal: Goal;
  readonly ours: Cost;
  readonly limit: Cost;
  /** The limit's CPU time per message divided by ours; 1 means as cheap as the limit. */
  readonly ratio: number;
}

/** A process that uses less than this part of a core is done with what it was told before. */
const IDLE_PART = 0.05;
const IDLE_CHECK_MS = 50;
const IDLE_WAIT_MAX_MS = 3000;

/** Waits until the process rests: files of a deleted topic are removed after the reply, for example. */
export async function untilIdle(pid: number): Promise<void> {
  const endMs = performance.now() + IDLE_WAIT_MAX_MS;
  while (performance.now() < endMs) {
    const [cpuBefore, beforeMs] = [cpuNanosOf(pid), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, IDLE_CHECK_MS));
    const passedNanos = (performance.now() - beforeMs) * 1e6;
    if (cpuNanosOf(pid) - cpuBefore < passedNanos * IDLE_PART) return;
  }
}

/** Measures one run of `work` against the process `pid`, once that process rests. */
export async function measure(
  pid: number,
  messages: number,
  bytes: number,
  work: () => Promise<void>,
): Promise<Cost> {
  await untilIdle(pid);
  const cpuBefore = cpuNanosOf(pid);
  const before = process.hrtime.bigint();
  await work();
  const seconds = Number(process.hrtime.bigint() - before) / 1e9;
  return {
    cpuNanosPerMessage: (cpuNanosOf(pid) - cpuBefore) / messages,
    wallMessagesPerSecond: messages / seconds,
    megabytesPerSecond: bytes / seconds / 1e6,
  };
}

/** The median of each part of several costs. */
export function medianCost(costs: readonly Cost[]): Cost {
  return {
    cpuNanosPerMessage: median(costs.map((one) => one.cpuNanosPerMessage)),
    wallMessagesPerSecond: median(costs.map((one) => one.wallMessagesPerSecond)),
    megabytesPerSecond: median(costs.map((one) => one.megabytesPerSecond)),
  };
}

/** Runs limit and ours in turns, the first rounds uncounted, and puts the medians beside each other. */
export async function compare(
  names: { name: string; limitName: string; goal: Goal; rounds: number },
  limitRun: () => Promise<Cost>,
  ourRun: () => Promise<Cost>,
): Promise<Figure> {
  const limits: Cost[] = [];
  const ours: Cost[] = [];
  for (let round = -WARM_UP_ROUNDS; round < names.rounds; round++) {
    const [limitCost, ourCost] = [await limitRun(), await ourRun()];
    if (round < 0) continue;
    limits.push(limitCost);
    ours.push(ourCost);
  }
  const [limit, mine] = [medianCost(limits), medianCost(ours)];
  const { name, limitName, goal } = names;
  return {
    name,
    limitName,
    goal,
    limit,
    ours: mine,
    ratio: limit.cpuNanosPerMessage / mine.cpuNanosPerMessage,
  };
}
