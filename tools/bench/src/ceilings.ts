/** A figure that has to stay below something. */
export interface CeilingFigure {
  readonly name: string;
  readonly unit: "s" | "KiB" | "x";
  readonly value: number;
  /** CPU time of a start: what it would take on a machine that does nothing else, at most. */
  readonly cpuSeconds?: number;
  /** `--check` fails above it. */
  readonly mostAllowed: number;
  readonly aim: number;
}

/** Seconds from the start of the process to its first reply. */
export const START = {
  clean: { mostAllowed: 1, aim: 0.5 },
  crashed: { mostAllowed: 3, aim: 1.5 },
} as const;

/** What partitions that nobody uses may cost. */
export const PARTITIONS_IDLE = {
  count: 1000,
  memory: { mostAllowed: 64, aim: 32 },
  start: { mostAllowed: 3, aim: 1.5 },
} as const;

/** What a cluster of three may cost beside one node, and how long it may refuse writes after a `kill -9`. */
export const CLUSTER = {
  latency: { mostAllowed: 3, aim: 2 },
  writable: { mostAllowed: 5, aim: 3 },
} as const;

/** Prints one such figure. */
export function printCeiling({ name, unit, value, cpuSeconds, mostAllowed, aim }: CeilingFigure): void {
  const reached = value <= mostAllowed ? "reached" : "MISSED";
  const cpu = cpuSeconds === undefined ? "" : `, of it CPU ${cpuSeconds.toFixed(2)} s`;
  console.log(
    `${name}\n  ${value.toFixed(2)} ${unit}${cpu} (at most ${mostAllowed}, aim ${aim}: ${reached})`,
  );
}
