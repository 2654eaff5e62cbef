import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { benchGrpc, benchWebSocket } from "./carriers.ts";
import { type CeilingFigure, printCeiling } from "./ceilings.ts";
import { pinClient } from "./child-process.ts";
import { benchCluster } from "./cluster/bench-cluster.ts";
import { type Figure, WARM_UP_ROUNDS } from "./figure.ts";
import { GOALS, IDLE_MAX_MIB, isReached, MEMORY_MAX_MIB } from "./goals.ts";
import { benchHttp } from "./http.ts";
import { benchIdle, type IdleReport } from "./idle.ts";
import { benchKernel, type KernelReport } from "./kernel.ts";
import { benchMany, benchThousand } from "./many.ts";
import { benchMemory, type MemoryReport } from "./memory.ts";
import { benchOpsCost, type OpsCost } from "./ops-cost.ts";
import { benchPeers } from "./peers/bench-peers.ts";
import { benchPersisted } from "./persisted.ts";
import { benchPolls } from "./poll.ts";
import { printFigure, printIdle, printKernel, printMemory, printOpsCosts } from "./print-report.ts";
import { benchProduce, benchSingle } from "./produce.ts";
import { benchSdk } from "./sdk.ts";
import { benchPartitions, benchStart } from "./start.ts";
import { printWallFigure, type WallFigure } from "./wall-figure.ts";

const SCENARIOS = [
  "kernel",
  "produce",
  "single",
  "many",
  "poll",
  "http",
  "memory",
  "idle",
  "ops",
  "websocket",
  "grpc",
  "thousand",
  "persisted",
  "start",
  "partitions",
  "peers",
  "sdk",
  "cluster",
] as const;
type Scenario = (typeof SCENARIOS)[number];

const USAGE = `Usage: npm run bench -- [${SCENARIOS.join("|")} ...] [options]
  --rounds N    rounds that count, after ${WARM_UP_ROUNDS} that do not (default 5)
  --json FILE   write the figures there
  --install-peers  let peers install missing servers with apt-get, as root
  --check       end with 1 when a figure misses what it must reach`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    json: { type: "string" },
    "install-peers": { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

/** Everything one run measured. */
interface Report {
  readonly node: string;
  readonly cpu: string | undefined;
  readonly rounds: number;
  kernel?: KernelReport;
  readonly figures: Figure[];
  readonly wallFigures: WallFigure[];
  readonly ceilings: CeilingFigure[];
  memory?: MemoryReport;
  idle?: IdleReport;
  ops?: readonly OpsCost[];
}

function addFigures(report: Report, figures: readonly Figure[]): void {
  report.figures.push(...figures);
  figures.forEach(printFigure);
}

function addWallFigures(report: Report, figures: readonly WallFigure[]): void {
  report.wallFigures.push(...figures);
  figures.forEach(printWallFigure);
}

function addCeilings(report: Report, figures: readonly CeilingFigure[]): void {
  report.ceilings.push(...figures);
  figures.forEach(printCeiling);
}

const RUNS: Record<Scenario, (report: Report) => Promise<void> | void> = {
  kernel: (report) => {
    report.kernel = benchKernel(report.rounds);
    printKernel(report.kernel);
  },
  produce: async (report) => addFigures(report, [await benchProduce(report.rounds)]),
  single: async (report) => addFigures(report, [await benchSingle(report.rounds)]),
  many: async (report) => addFigures(report, await benchMany(report.rounds)),
  poll: async (report) => addFigures(report, await benchPolls(report.rounds)),
  http: async (report) => addFigures(report, [await benchHttp(report.rounds)]),
  memory: async (report) => {
    report.memory = await benchMemory();
    printMemory(report.memory);
  },
  idle: async (report) => {
    report.idle = await benchIdle();
    printIdle(report.idle);
  },
  ops: async (report) => {
    report.ops = await benchOpsCost(report.rounds);
    printOpsCosts(report.ops);
  },
  websocket: async (report) => addFigures(report, [await benchWebSocket(report.rounds)]),
  grpc: async (report) => addFigures(report, [await benchGrpc(report.rounds)]),
  thousand: async (report) => addFigures(report, await benchThousand(report.rounds)),
  persisted: async (report) => addWallFigures(report, [await benchPersisted(report.rounds)]),
  start: async (report) => addCeilings(report, await benchStart(report.rounds)),
  partitions: async (report) => addCeilings(report, await benchPartitions(report.rounds)),
  sdk: async (report) => addFigures(report, await benchSdk(report.rounds)),
  cluster: async (report) => {
    const { wallFigures, ceilings } = await benchCluster(report.rounds);
    addWallFigures(report, wallFigures);
    addCeilings(report, ceilings);
  },
  peers: async (report) => addWallFigures(report, await benchPeers(report.rounds, values["install-peers"])),
};

function missesOf({ kernel, figures, wallFigures, ceilings, memory, idle }: Report): string[] {
  const misses = [...figures, ...wallFigures]
    .filter(({ ratio, goal }) => !isReached(ratio, goal))
    .map(({ name }) => name);
  misses.push(...ceilings.filter(({ value, mostAllowed }) => value > mostAllowed).map(({ name }) => name));
  if (kernel !== undefined && !isReached(kernel.ratio, GOALS.kernel)) misses.push("kernel");
  if (memory !== undefined && memory.highest > MEMORY_MAX_MIB) misses.push("memory");
  if (idle !== undefined && idle.after - idle.before >= IDLE_MAX_MIB) misses.push("idle");
  return misses;
}

async function main(): Promise<void> {
  const unknown = positionals.filter((name) => !SCENARIOS.some((one) => one === name));
  const rounds = Number(values.rounds);
  if (values.help || unknown.length > 0 || !(rounds >= 1)) {
    console.log(USAGE);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  const report: Report = {
    node: process.version,
    cpu: cpus()[0]?.model,
    rounds,
    figures: [],
    wallFigures: [],
    ceilings: [],
  };
  await pinClient();
  console.log(`Node ${process.version}, ${cpus().length} cores, medians of ${rounds} interleaved rounds\n`);
  for (const scenario of SCENARIOS) {
    if (positionals.length === 0 || positionals.includes(scenario)) await RUNS[scenario](report);
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, undefined, 2)}\n`);
  const misses = missesOf(report);
  if (!values.check || misses.length === 0) return;
  console.log(`\nMissed: ${misses.join("; ")}`);
  process.exitCode = 1;
}

await main();
