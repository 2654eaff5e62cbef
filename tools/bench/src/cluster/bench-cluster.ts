import { type CeilingFigure, CLUSTER } from "../ceilings.ts";
import { ALL_CORES } from "../child-process.ts";
import { untilIdle, WARM_UP_ROUNDS } from "../figure.ts";
import { GOALS } from "../goals.ts";
import { openClient, startMillrace } from "../millrace-target.ts";
import { cpuNanosOf, median } from "../process-usage.ts";
import type { WallFigure } from "../wall-figure.ts";
import { BenchNodes } from "./bench-nodes.ts";
import { benchFailover } from "./failover.ts";
import { benchRejoin } from "./rejoin.ts";

const MESSAGES = 1000;
const PAYLOAD_LENGTH = 256;
/** Batches of one run: 152 MB, three times that on the disk of a cluster. */
const REQUESTS = 500;
const IN_FLIGHT = 8;
/** Requests of one message, one in flight, of one run. */
const SINGLE_REQUESTS = 1500;

type Client = Awaited<ReturnType<typeof openClient>>;

/** One side of the comparison: whom the requests go to, and whose time they cost. */
interface Side {
  readonly client: Client;
  readonly pids: () => readonly number[];
  readonly megabytesPerSecond: number[];
  readonly cpuNanos: number[];
  readonly latencyMs: number[];
}

/**
 * Three nodes on this machine against one, in turns: produce 1000 x 256 B `replicated`, and one message at a
 * time. Then how long writes wait after a `kill -9` of the leader, and what a node costs that comes back.
 */
export async function benchCluster(rounds: number): Promise<{
  readonly wallFigures: WallFigure[];
  readonly ceilings: CeilingFigure[];
}> {
  const alone = await startMillrace({}, { cores: ALL_CORES });
  const nodes = await BenchNodes.start();
  const single = sideOf(await openClient(alone.port), () => [alone.pid]);
  const cluster = sideOf(await openClient(nodes.portOf(await nodes.leader())), () => nodes.pids);
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const side of [single, cluster]) await runRound(side, round >= 0);
  }
  for (const { client } of [single, cluster]) client.connection.close();
  await alone.stop();
  const writable = await benchFailover(nodes, rounds);
  const rejoin = await benchRejoin(nodes);
  await nodes.stop();
  return {
    wallFigures: [produceFigure(cluster, single), rejoin],
    ceilings: [latencyFigure(cluster, single), writable],
  };
}

function sideOf(client: Client, pids: () => readonly number[]): Side {
  return { client, pids, megabytesPerSecond: [], cpuNanos: [], latencyMs: [] };
}

async function runRound({ client, pids, ...costs }: Side, counts: boolean): Promise<void> {
  const { connection, requests } = client;
  const batch = requests.send("bench", "t", MESSAGES, PAYLOAD_LENGTH);
  const one = requests.send("bench", "t", 1, PAYLOAD_LENGTH);
  await connection.call(requests.createStream("bench"));
  await connection.call(requests.createTopic("bench", "t"));
  for (const pid of pids()) await untilIdle(pid);
  const cpu = () => pids().reduce((sum, pid) => sum + cpuNanosOf(pid), 0);
  const [cpuBefore, beforeMs] = [cpu(), performance.now()];
  await connection.pump(REQUESTS, IN_FLIGHT, requests.rotate(batch, IN_FLIGHT * 2));
  const seconds = (performance.now() - beforeMs) / 1000;
  const cpuNanos = (cpu() - cpuBefore) / (REQUESTS * MESSAGES);
  const latencies = await latenciesOf(client, one);
  await connection.call(requests.deleteStream("bench"));
  if (!counts) return;
  costs.megabytesPerSecond.push((REQUESTS * batch.length) / seconds / 1e6);
  costs.cpuNanos.push(cpuNanos);
  costs.latencyMs.push(median(latencies));
}

/** Milliseconds of each of some sends of one message, one after the other. */
async function latenciesOf({ connection, requests }: Client, one: Buffer): Promise<number[]> {
  const next = requests.rotate(one, 2);
  const latencies: number[] = [];
  for (let at = 0; at < SINGLE_REQUESTS; at++) {
    const beforeMs = performance.now();
    await connection.pump(1, 1, next);
    latencies.push(performance.now() - beforeMs);
  }
  return latencies;
}

function produceFigure(cluster: Side, single: Side): WallFigure {
  const [ours, against] = [median(cluster.megabytesPerSecond), median(single.megabytesPerSecond)];
  return {
    name: "three nodes, produce 1000 x 256 B, replicated",
    againstName: "one node",
    unit: "MB/s",
    ours,
    against,
    ratio: ours / against,
    goal: GOALS.cluster,
    cpuNanos: [median(cluster.cpuNanos), median(single.cpuNanos)],
  };
}

function latencyFigure(cluster: Side, single: Side): CeilingFigure {
  const [ours, against] = [median(cluster.latencyMs), median(single.latencyMs)];
  const name = `three nodes, p50 of one message: ${ours.toFixed(2)} ms, one node ${against.toFixed(2)} ms`;
  return { name, unit: "x", value: ours / against, ...CLUSTER.latency };
}
