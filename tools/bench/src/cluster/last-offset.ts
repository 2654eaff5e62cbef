import { setTimeout as sleep } from "node:timers/promises";
import { HEADER_LENGTH } from "@millrace/framing";
import { decodePollMessagesReply } from "@millrace/protocol";
import { NODES } from "@millrace/testkit";
import { openClient } from "../millrace-target.ts";
import type { BenchNodes } from "./bench-nodes.ts";

const LOOK_MS = 50;
/** Ids of clients that only look. */
let looker = 1_000_000n;

type Looker = Awaited<ReturnType<typeof openClient>>;

/** The last offset of partition 0 of topic `t` as one node has it; undefined while the node cannot say. */
export async function lastOffsetOf(
  nodes: BenchNodes,
  at: number,
  stream: string,
): Promise<number | undefined> {
  const client = await lookerAt(nodes, at);
  const last = client && (await lastSeenBy(client, stream));
  client?.connection.close();
  return last;
}

function lookerAt(nodes: BenchNodes, at: number): Promise<Looker | undefined> {
  return openClient(nodes.portOf(at), looker++).catch(() => undefined);
}

async function lastSeenBy({ connection, requests }: Looker, stream: string): Promise<number | undefined> {
  const reply = await connection.call(requests.pollLast(stream, "t")).catch(() => undefined);
  if (reply === undefined || reply.readUInt32LE(216) !== 0) return undefined;
  return decodePollMessagesReply(reply.subarray(HEADER_LENGTH)).currentOffset;
}

/** Waits until a node has what any of them has now. Throws when it takes too long. */
export async function untilCaughtUp(
  nodes: BenchNodes,
  { stream, node, limitMs }: { readonly stream: string; readonly node: number; readonly limitMs: number },
): Promise<void> {
  const ends = await Promise.all(NODES.map((at) => lastOffsetOf(nodes, at, stream)));
  await untilAt(nodes, { stream, node, limitMs, goal: Math.max(...ends.map((end) => end ?? 0)) });
}

/** Waits until a node has an offset. Throws when it takes too long. */
export async function untilAt(
  nodes: BenchNodes,
  place: { readonly stream: string; readonly node: number; readonly limitMs: number; readonly goal: number },
): Promise<void> {
  const { stream, node, limitMs, goal } = place;
  const endMs = performance.now() + limitMs;
  let client: Looker | undefined;
  for (;;) {
    // A login costs the node the time of many looks: one that serves is asked over one connection.
    client ??= await lookerAt(nodes, node);
    const end = client && (await lastSeenBy(client, stream));
    if (end === undefined || end >= goal) {
      client?.connection.close();
      client = undefined;
    }
    if (end !== undefined && end >= goal) return;
    if (performance.now() > endMs)
      throw new Error(`node ${node} is at ${end} of ${goal} after ${limitMs} ms`);
    await sleep(LOOK_MS);
  }
}
