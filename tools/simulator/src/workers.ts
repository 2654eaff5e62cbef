import { spawn } from "node:child_process";
import { once } from "node:events";
import type { SimulatorOptions } from "./read-options.ts";

/** A part of a range of seeds. */
export interface Part {
  readonly from: number;
  readonly to: number;
}

/** Cuts a range into parts that follow each other, as equal as can be; none is empty. */
export function partsOf({ from, to }: Part, count: number): Part[] {
  const total = to - from + 1;
  const startOf = (at: number) => from + Math.floor((at * total) / Math.min(count, total));
  return Array.from({ length: Math.min(count, total) }, (_, at) => {
    return { from: startOf(at), to: startOf(at + 1) - 1 };
  });
}

/** The arguments of one worker: the same, but with its own seeds. */
export function argumentsOf(args: readonly string[], { from, to }: Part): string[] {
  // Of an argument that is there twice the last one holds. Who asks by `--seed` has one part: that seed.
  return [...args, "--workers", "1", "--seeds", `${from}..${to}`];
}

/**
 * Runs a range in several processes, each of which writes its own lines. A signal goes to all.
 *
 * @param command this program and its arguments
 * @returns whether none found anything
 */
export async function runInWorkers(options: SimulatorOptions, command: readonly string[]): Promise<boolean> {
  const workers = partsOf(options, options.workers).map((part) =>
    spawn(process.execPath, [...process.execArgv, ...argumentsOf(command, part)], { stdio: "inherit" }),
  );
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => {
      for (const worker of workers) worker.kill(signal);
    });
  const codes = await Promise.all(workers.map(async (worker) => (await once(worker, "exit"))[0]));
  return codes.every((code) => code === 0);
}
