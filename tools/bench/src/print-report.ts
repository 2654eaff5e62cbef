import type { Figure } from "./figure.ts";
import { GOALS, IDLE_MAX_MIB, MEMORY_MAX_MIB, verdict } from "./goals.ts";
import type { IdleReport } from "./idle.ts";
import type { KernelReport } from "./kernel.ts";
import type { MemoryReport } from "./memory.ts";
import type { OpsCost } from "./ops-cost.ts";

/** Prints one figure beside its limit. */
export function printFigure(figure: Figure): void {
  const { name, limitName, limit, ours, ratio, goal } = figure;
  const cost = (nanos: number) => `${nanos.toFixed(1)} ns`;
  const speed = (megabytes: number) => `${megabytes.toFixed(0)} MB/s`;
  const rate = `${Math.round(ours.wallMessagesPerSecond)} messages/s`;
  console.log(name);
  console.log(
    `  cpu a message   ours ${cost(ours.cpuNanosPerMessage)}, ${limitName} ${cost(limit.cpuNanosPerMessage)}`,
  );
  console.log(
    `  wall            ours ${speed(ours.megabytesPerSecond)}, ${rate}; ${limitName} ${speed(limit.megabytesPerSecond)}`,
  );
  console.log(`  ratio           ${ratio.toFixed(2)} (${verdict(ratio, goal)})`);
}

/** Prints what verifying costs with the kernel and with a library. */
export function printKernel({ build, kernelNanos, libraryNanos, ratio }: KernelReport): void {
  console.log(`verify 1000 x 256 B with the ${build} kernel`);
  console.log(
    `  cpu a message   ours ${kernelNanos.toFixed(1)} ns, one library call a message ${libraryNanos.toFixed(1)} ns`,
  );
  console.log(`  ratio           ${ratio.toFixed(1)} (${verdict(ratio, GOALS.kernel)})`);
}

/** Prints the server's memory while messages flow. */
export function printMemory({ before, afterEachSlice, highest }: MemoryReport): void {
  const reached = highest <= MEMORY_MAX_MIB ? "reached" : "MISSED";
  console.log("memory while 1 GiB flows through");
  console.log(`  resident        ${before} MiB before, then ${afterEachSlice.join(" ")}`);
  console.log(`  highest         ${highest} MiB (at most ${MEMORY_MAX_MIB}: ${reached})`);
}

/** Prints what idle connections cost. */
export function printIdle({ connections, before, after }: IdleReport): void {
  const growth = after - before;
  const verdict = growth < IDLE_MAX_MIB ? "reached" : "MISSED";
  const each = ((growth * 1024) / connections).toFixed(1);
  console.log(`${connections} idle TCP connections`);
  console.log(`  resident        ${before} MiB before, ${after} MiB with them`);
  console.log(`  growth          ${growth} MiB, ${each} KiB each (below ${IDLE_MAX_MIB}: ${verdict})`);
}

/** Prints what the op records beside the log cost. */
export function printOpsCosts(costs: readonly OpsCost[]): void {
  const percent = (factor: number) => `${factor < 1 ? "" : "+"}${((factor - 1) * 100).toFixed(1)} %`;
  console.log("op records beside the log, against no op records");
  for (const { name, wallFactor, cpuFactor } of costs) {
    console.log(`  ${name.padEnd(24)} wall ${percent(wallFactor)}, cpu ${percent(cpuFactor)}`);
  }
}
