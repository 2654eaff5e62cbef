import { setTimeout as sleep } from "node:timers/promises";
import { NODES } from "@millrace/testkit";
import { type CeilingFigure, CLUSTER } from "../ceilings.ts";
import { openClient } from "../millrace-target.ts";
import { median } from "../process-usage.ts";
import type { BenchNodes } from "./bench-nodes.ts";
import { untilCaughtUp } from "./last-offset.ts";

const STREAM = "failover";
const PROBE_MS = 5;
/** Long before that somebody looks at the cluster. */
const WRITABLE_MAX_MS = 60_000;
const CAUGHT_UP_MAX_MS = 60_000;

/** Seconds from a `kill -9` of the leader to the first acknowledged send; median of some kills. */
export async function benchFailover(nodes: BenchNodes, rounds: number): Promise<CeilingFigure> {
  const client = await nodes.client();
  await client.createStream(STREAM);
  await client.createTopic(STREAM, { name: "t", partitionsCount: 1 });
  await client.close();
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await killLeader(nodes, BigInt(100 + 10 * round)));
  const seconds = times.map((time) => time.toFixed(1)).join(", ");
  const name = `writes taken again after kill -9 of the leader (${seconds})`;
  return { name, unit: "s", value: median(times), ...CLUSTER.writable };
}

/** @param firstClient  ids of this round's clients begin there */
async function killLeader(nodes: BenchNodes, firstClient: bigint): Promise<number> {
  const leader = await nodes.leader();
  const others = NODES.filter((at) => at !== leader);
  const clients = await Promise.all(
    others.map((at) => openClient(nodes.portOf(at), firstClient + BigInt(at))),
  );
  const killing = nodes.kill(leader);
  const beforeMs = performance.now();
  const probes = clients.map((client) => untilTaken(client, beforeMs + WRITABLE_MAX_MS));
  await Promise.any(probes);
  const seconds = (performance.now() - beforeMs) / 1000;
  for (const { connection } of clients) connection.close();
  await Promise.allSettled([killing, ...probes]);
  await nodes.startAgain(leader);
  await untilCaughtUp(nodes, { stream: STREAM, node: leader, limitMs: CAUGHT_UP_MAX_MS });
  return seconds;
}

/** Sends until a send is acknowledged. Rejects when the connection ends or it takes too long. */
async function untilTaken(
  { connection, requests }: Awaited<ReturnType<typeof openClient>>,
  endMs: number,
): Promise<void> {
  const next = requests.rotate(requests.send(STREAM, "t", 1, 256), 2);
  while (performance.now() < endMs) {
    const reply = await connection.call(next());
    if (reply.readUInt32LE(216) === 0) return;
    await sleep(PROBE_MS);
  }
  throw new Error(`no send was acknowledged within ${WRITABLE_MAX_MS} ms`);
}
