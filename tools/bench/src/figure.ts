import { cpuNanosOf, median } from "./process-usage.ts";

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
  readonly ours: Cost;
  readonly limit: Cost;
  /** The limit's CPU time per message divided by ours; 1 means as cheap as the limit. */
  readonly ratio: number;
  readonly mustReach: number;
}

/** Measures one run of `work` against the process `pid`. */
export async function measure(
  pid: number,
  messages: number,
  bytes: number,
  work: () => Promise<void>,
): Promise<Cost> {
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

/** Runs limit and ours in turns and puts the medians beside each other. */
export async function compare(
  names: { name: string; limitName: string; mustReach: number; rounds: number },
  limitRun: () => Promise<Cost>,
  ourRun: () => Promise<Cost>,
): Promise<Figure> {
  const limits: Cost[] = [];
  const ours: Cost[] = [];
  for (let round = 0; round < names.rounds; round++) {
    limits.push(await limitRun());
    ours.push(await ourRun());
  }
  const [limit, mine] = [medianCost(limits), medianCost(ours)];
  const { name, limitName, mustReach } = names;
  return {
    name,
    limitName,
    mustReach,
    limit,
    ours: mine,
    ratio: limit.cpuNanosPerMessage / mine.cpuNanosPerMessage,
  };
}
