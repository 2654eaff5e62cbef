import assert from "node:assert/strict";
import { xxh3_64 } from "@millrace/framing";
import {
  type Consumer as AnyConsumer,
  decodeGetConsumerOffsetReply,
  encodeGetConsumerOffset,
  toIdentifier,
} from "@millrace/protocol";
import type { TestClient } from "../test-client.ts";
import type { TestCluster } from "../test-cluster.ts";
import { type Consumer, placeOf, pollTopic, STREAM } from "./history-actors.ts";
import type { GroupOracle } from "./history-group-oracle.ts";
import { GROUP_CONSUMER } from "./history-members.ts";
import { servedMessages } from "./history-messages.ts";
import { PROGRESS_MAX_MS } from "./history-operation.ts";
import type { TopicOracle } from "./history-oracle.ts";
import { payloadOf } from "./history-reads.ts";
import type { HistoryWorld } from "./history-world.ts";

/** Whose offsets are kept. */
export interface Readers {
  readonly consumers: readonly Consumer[];
  readonly group: GroupOracle;
}

/** Where a node is with one partition. */
interface NodeState {
  /** What it serves; nothing when it cannot serve now. */
  readonly served: Uint8Array | undefined;
  /** The same in few letters, checksums, ids, headers and times included. */
  readonly hash: string | undefined;
  /** What is stored for each consumer and for the group; `refused` when it does not say. */
  readonly offsets: readonly (number | "none" | "refused")[];
}

/** All nodes come to say the same, and it is what was promised. */
export async function compareNodes(world: HistoryWorld, readers: Readers): Promise<void> {
  const { cluster } = world;
  await soon(world, "the nodes' catalogs are equal", () => {
    const all = cluster.nodes.map((_, at) => catalogOf(cluster, at));
    return all.every((one) => one === all[0]);
  });
  const names = namesOf(cluster);
  assert.deepEqual(
    [...names].sort(),
    [...new Set(world.keptTopics.map(({ name }) => name))].sort(),
    "the topics there are",
  );
  const clients = await loginAll(cluster);
  for (const topic of world.keptTopics) await comparePartition(world, { clients, topic, readers });
  for (const batch of world.balanced) batch.finally();
  for (const client of clients) client.close();
}

function namesOf(cluster: TestCluster): string[] {
  const { catalog } = cluster.broker(0).shard;
  const stream = catalog.findStream(toIdentifier(STREAM));
  return stream?.topics.list().map(({ name }) => name) ?? [];
}

async function loginAll(cluster: TestCluster): Promise<TestClient[]> {
  const clients: TestClient[] = [];
  for (const at of cluster.nodes.keys()) clients.push(await cluster.login(at, BigInt(500 + at)));
  return clients;
}

async function comparePartition(
  world: HistoryWorld,
  { clients, topic, readers }: { clients: TestClient[]; topic: TopicOracle; readers: Readers },
): Promise<void> {
  const startMs = world.nowMs;
  for (;;) {
    const states: NodeState[] = [];
    for (const [at, client] of clients.entries()) {
      states.push(await stateOf(world, { client, at, topic, readers }));
    }
    const [first, ...others] = states;
    assert.ok(first !== undefined);
    if (isSettled(first) && others.every((one) => textOf(one) === textOf(first))) {
      checkState(first, topic, readers);
      return;
    }
    assert.ok(
      world.nowMs - startMs < PROGRESS_MAX_MS,
      `${topic.label} is the same on each node: ${states.map(textOf).join("; ")}`,
    );
    await world.cluster.clock.run(50);
  }
}

function isSettled({ served, offsets }: NodeState): boolean {
  return served !== undefined && !offsets.includes("refused");
}

function textOf({ served, hash, offsets }: NodeState): string {
  return `${served?.length} bytes, ${hash}, offsets ${offsets}`;
}

function checkState({ served, offsets }: NodeState, topic: TopicOracle, { consumers, group }: Readers): void {
  assert.ok(served !== undefined);
  topic.finally(servedMessages(served, topic.partitionId));
  const stored = offsets.map((offset) => (typeof offset === "number" ? offset : undefined));
  for (const [at, { number }] of consumers.entries()) topic.finallyStored(number, stored[at]);
  if (group.has(topic)) group.finallyStored(topic, stored.at(-1));
}

async function stateOf(
  world: HistoryWorld,
  node: { client: TestClient; at: number; topic: TopicOracle; readers: Readers },
): Promise<NodeState> {
  const { client, at, topic, readers } = node;
  const excuses = { mayBeUnknown: false, isRotten: world.isRotten(at) };
  const ask = async (name: "PollMessages" | "GetConsumerOffset", body: Uint8Array) => {
    return payloadOf(await world.cluster.drive(client.command(name, body)), `${name} on node ${at}`, excuses);
  };
  const served = await ask("PollMessages", pollTopic(topic));
  const hash = served && xxh3_64(served).toString(16);
  const offsets: (number | "none" | "refused")[] = [];
  for (const consumer of keysOf(topic, readers)) {
    const place = { ...placeOf(topic), partitionId: topic.partitionId, consumer };
    const stored = await ask("GetConsumerOffset", encodeGetConsumerOffset(place));
    const found = stored && decodeGetConsumerOffsetReply(stored);
    offsets.push(stored === undefined ? "refused" : (found?.storedOffset ?? "none"));
  }
  return { served, hash, offsets };
}

function keysOf(topic: TopicOracle, { consumers, group }: Readers): AnyConsumer[] {
  const keys = consumers.map(({ number }): AnyConsumer => ({ kind: "consumer", id: toIdentifier(number) }));
  return group.has(topic) ? [...keys, GROUP_CONSUMER] : keys;
}

/** What a node knows of the catalog, in few letters. */
function catalogOf(cluster: TestCluster, at: number): string {
  return xxh3_64(cluster.broker(at).shard.catalog.encodeSnapshot()).toString(16);
}

async function soon(world: HistoryWorld, what: string, isSo: () => boolean): Promise<void> {
  const startMs = world.nowMs;
  while (!isSo()) {
    assert.ok(world.nowMs - startMs < PROGRESS_MAX_MS, `soon after healing ${what}`);
    await world.cluster.clock.run(10);
  }
}
