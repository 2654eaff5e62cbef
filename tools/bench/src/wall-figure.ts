import type { Goal } from "./goals.ts";
import { verdict } from "./goals.ts";

/** A figure of speed by the wall clock, where waiting counts and CPU time would say too little. */
export interface WallFigure {
  readonly name: string;
  readonly againstName: string;
  readonly unit: "MB/s" | "messages/s";
  readonly ours: number;
  readonly against: number;
  /** Ours divided by the other; more is better. */
  readonly ratio: number;
  readonly goal: Goal;
  /** Ours and the other's CPU time a message, in nanoseconds, where it says something. */
  readonly cpuNanos?: readonly [ours: number, against: number];
  /** What a confirmation stands for, of ours and of the other. */
  readonly confirms?: readonly [ours: string, against: string];
}

/** Prints one such figure. */
export function printWallFigure(figure: WallFigure): void {
  const { name, againstName, unit, ours, against, ratio, goal, cpuNanos, confirms } = figure;
  console.log(name);
  console.log(
    `  wall            ours ${ours.toFixed(0)} ${unit}; ${againstName} ${against.toFixed(0)} ${unit}`,
  );
  if (cpuNanos !== undefined) {
    const [mine, other] = cpuNanos.map((nanos) => `${(nanos / 1000).toFixed(2)} us`);
    console.log(`  cpu a message   ours ${mine}, ${againstName} ${other}`);
  }
  if (confirms !== undefined) {
    console.log(`  confirms        ours ${confirms[0]}`);
    console.log(`                  ${againstName} ${confirms[1]}`);
  }
  console.log(`  ratio           ${ratio.toFixed(2)} (${verdict(ratio, goal)})`);
}
