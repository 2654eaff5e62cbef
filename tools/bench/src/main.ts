import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { pinClient } from "./child-process.ts";
import type { Figure } from "./figure.ts";
import { benchKernel } from "./kernel.ts";
import { benchMemory } from "./memory.ts";
import { benchOpsCost, type OpsCost } from "./ops-cost.ts";
import { benchPolls } from "./poll.ts";
import { benchProduce } from "./produce.ts";

const SCENARIOS = ["kernel", "produce", "poll", "memory", "ops"] as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "5" }, json: { type: "string" }, help: { type: "boolean" } },
});

function printFigure(figure: Figure): void {
  const { name, limitName, limit, ours, ratio, mustReach } = figure;
  const cost = (nanos: number) => `${nanos.toFixed(1)} ns`;
  console.log(`${name}`);
  console.log(
    `  cpu a message   ours ${cost(ours.cpuNanosPerMessage)}, ${limitName} ${cost(limit.cpuNanosPerMessage)}`,
  );
  console.log(
    `  wall            ours ${ours.megabytesPerSecond.toFixed(0)} MB/s, ${Math.round(ours.wallMessagesPerSecond)} messages/s; ${limitName} ${limit.megabytesPerSecond.toFixed(0)} MB/s`,
  );
  console.log(
    `  ratio           ${ratio.toFixed(2)} (must reach ${mustReach}) ${ratio >= mustReach ? "reached" : "MISSED"}`,
  );
}

function printOpsCost(cost: OpsCost): OpsCost {
  const percent = (factor: number) => `${((factor - 1) * 100).toFixed(1)} %`;
  console.log(
    `op records beside the log, ${cost.name}: wall +${percent(cost.wallFactor)}, cpu +${percent(cost.cpuFactor)}`,
  );
  return cost;
}

async function main(): Promise<void> {
  const chosen = positionals.length === 0 ? SCENARIOS : SCENARIOS.filter((one) => positionals.includes(one));
  if (values.help || chosen.length === 0) {
    console.log(`Usage: npm run bench -- [${SCENARIOS.join("|")} ...] [--rounds N] [--json FILE]`);
    return;
  }
  const rounds = Number(values.rounds);
  const report: Record<string, unknown> = { node: process.version, cpu: cpus()[0]?.model, rounds };
  pinClient();
  console.log(`Node ${process.version}, ${cpus().length} cores, median of ${rounds} interleaved rounds\n`);
  if (chosen.includes("kernel")) {
    const kernel = benchKernel(rounds);
    report["kernel"] = kernel;
    console.log(
      `verify kernel (${kernel.build}), 1000 x 256 B: ${kernel.kernelNanos.toFixed(1)} ns a message; one library call a message ${kernel.libraryNanos.toFixed(1)} ns; ${kernel.ratio.toFixed(1)}x (must reach 6x)`,
    );
  }
  const figures = [
    ...(chosen.includes("produce") ? [await benchProduce(rounds)] : []),
    ...(chosen.includes("poll") ? await benchPolls(rounds) : []),
  ];
  figures.forEach(printFigure);
  report["figures"] = figures;
  if (chosen.includes("memory")) {
    const memory = await benchMemory();
    report["memory"] = memory;
    console.log(
      `memory while 1 GiB flows through: ${memory.before} MiB before, then ${memory.afterEachSlice.join(" ")}; highest ${memory.highest} MiB`,
    );
  }
  if (chosen.includes("ops")) report["ops"] = (await benchOpsCost(rounds)).map(printOpsCost);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, undefined, 2)}\n`);
}

await main();
