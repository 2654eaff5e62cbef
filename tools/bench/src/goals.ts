/** What a figure is held against. `--check` fails below `mustReach`; `aim` is where the work is heading. */
export interface Goal {
  readonly mustReach?: number;
  readonly aim: number;
}

/** The ratios of the design's table of measurements, and what has to hold today. */
export const GOALS = {
  kernel: { mustReach: 6, aim: 12 },
  produce: { mustReach: 0.25, aim: 0.5 },
  pollTail: { mustReach: 0.6, aim: 0.95 },
  pollPageCache: { mustReach: 0.3, aim: 0.45 },
  single: { mustReach: 0.8, aim: 1.5 },
  many: { mustReach: 0.6, aim: 0.9 },
  websocket: { mustReach: 0.4, aim: 0.7 },
  grpc: { mustReach: 0.25, aim: 0.5 },
  http: { mustReach: 0.5, aim: 0.7 },
  thousand: { mustReach: 0.3, aim: 0.7 },
  persisted: { mustReach: 0.7, aim: 1 },
  redisEverysec: { mustReach: 0.7, aim: 1 },
  jetStream: { mustReach: 1.5, aim: 2 },
  redisAlways: { mustReach: 3, aim: 6 },
  cluster: { mustReach: 0.2, aim: 0.4 },
  rejoin: { mustReach: 0.5, aim: 0.8 },
  sdkProducer: { aim: 0.2 },
  sdkConsumer: { aim: 0.5 },
} as const satisfies Record<string, Goal>;

/** Size of the message memory a server takes when it is not told otherwise, in MiB. */
const POOL_DEFAULT_MIB = 512;
/** Everything else a server may hold resident: the runtime, its heap, and replies on their way. */
const BESIDE_POOL_MIB = 256;

/** Most resident memory while messages flow, in MiB. */
export const MEMORY_MAX_MIB = POOL_DEFAULT_MIB + BESIDE_POOL_MIB;

/** Idle TCP connections, and what all of them together may add to the resident memory, in MiB. */
export const IDLE_CONNECTIONS = 10_000;
export const IDLE_MAX_MIB = 400;

/** True unless a ratio is below what it must reach. */
export function isReached(ratio: number, goal: Goal): boolean {
  return goal.mustReach === undefined || ratio >= goal.mustReach;
}

/** The goal in words, with the verdict. */
export function verdict(ratio: number, goal: Goal): string {
  const aim = `aim ${goal.aim}`;
  if (goal.mustReach === undefined) return aim;
  return `must reach ${goal.mustReach}, ${aim}: ${isReached(ratio, goal) ? "reached" : "MISSED"}`;
}
