import { NODES } from "@millrace/testkit";
import { GOALS } from "../goals.ts";
import { openClient } from "../millrace-target.ts";
import type { WallFigure } from "../wall-figure.ts";
import type { BenchNodes } from "./bench-nodes.ts";
import { untilAt } from "./last-offset.ts";

const STREAM = "rejoin";
const MESSAGES = 1000;
const PAYLOAD_LENGTH = 256;
const IN_FLIGHT = 8;
/** What the node misses. */
const MISSED_LENGTH = 1 << 30;
/** Requests between two looks whether the node is there. */
const SLICE_REQUESTS = 50;
const CAUGHT_UP_MAX_MS = 180_000;

/**
 * A node is killed and misses 1 GiB; then it comes back. The throughput of the others while it fetches what
 * it missed, against theirs while it was away.
 */
export async function benchRejoin(nodes: BenchNodes): Promise<WallFigure> {
  const admin = await nodes.client();
  await admin.createStream(STREAM);
  await admin.createTopic(STREAM, { name: "t", partitionsCount: 1 });
  await admin.close();
  const leader = await nodes.leader();
  const away = NODES.find((at) => at !== leader) ?? 0;
  const { connection, requests } = await openClient(nodes.portOf(leader), 5000n);
  const batch = requests.send(STREAM, "t", MESSAGES, PAYLOAD_LENGTH);
  const next = requests.rotate(batch, IN_FLIGHT * 2);
  const pump = async (count: number) => {
    const beforeMs = performance.now();
    await connection.pump(count, IN_FLIGHT, next);
    return performance.now() - beforeMs;
  };
  await pump(SLICE_REQUESTS);
  await nodes.kill(away);
  const missed = Math.ceil(MISSED_LENGTH / batch.length);
  const against = (missed * batch.length) / (await pump(missed)) / 1000;

  const startedMs = performance.now();
  const goal = (SLICE_REQUESTS + missed) * MESSAGES - 1;
  let caughtUpMs: number | undefined;
  const coming = nodes
    .startAgain(away)
    .then(() => untilAt(nodes, { stream: STREAM, node: away, goal, limitMs: CAUGHT_UP_MAX_MS }))
    .then(() => {
      caughtUpMs = performance.now() - startedMs;
    });
  let [sent, sentMs] = [0, 0];
  while (caughtUpMs === undefined && performance.now() - startedMs < CAUGHT_UP_MAX_MS) {
    sentMs += await pump(SLICE_REQUESTS);
    sent += SLICE_REQUESTS;
  }
  await coming;
  connection.close();
  const ours = (sent * batch.length) / sentMs / 1000;
  return {
    name: `produce 1000 x 256 B while a node fetches 1 GiB (it had it after ${((caughtUpMs ?? 0) / 1000).toFixed(1)} s)`,
    againstName: "while it is away",
    unit: "MB/s",
    ours,
    against,
    ratio: ours / against,
    goal: GOALS.rejoin,
  };
}
