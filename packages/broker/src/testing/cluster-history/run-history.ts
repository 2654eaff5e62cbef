import assert from "node:assert/strict";
import { loadKeyHash } from "@millrace/framing";
import { SimClock } from "@millrace/platform/sim";
import { encodeCreateConsumerGroup, encodeCreateStream, NO_OPTIONS } from "@millrace/protocol";
import { loadTokenDigest } from "../../tokens/token-digest.ts";
import { TestCluster } from "../test-cluster.ts";
import { Consumer, Producer, placeOf, STREAM } from "./history-actors.ts";
import { Administrator } from "./history-administrator.ts";
import { compareNodes } from "./history-comparison.ts";
import { Faults } from "./history-faults.ts";
import { GroupOracle } from "./history-group-oracle.ts";
import { GROUP, Member } from "./history-members.ts";
import { CLEANER_INTERVAL_MS, SEGMENT_SIZE_MIN } from "./history-plan.ts";
import { Rolls } from "./history-rolls.ts";
import { CLOCK_SKEW_MS } from "./history-trims.ts";
import { HistoryWorld } from "./history-world.ts";

/** What a history came to. */
export interface HistoryEnd {
  /** Everything that clients and nodes met, one line each, with the time. */
  readonly lines: readonly string[];
  /** Messages that were acknowledged. */
  readonly acknowledged: number;
  /** Operations that were answered. */
  readonly operations: number;
  /** Faults that did something. */
  readonly faults: number;
  /** Ticks until all was mended. */
  readonly ticks: number;
  /** Segments that were begun behind others. */
  readonly rolls: number;
  /** Losses of a node right behind the beginning of a segment. */
  readonly rollLosses: number;
  /** Deletions of segments. */
  readonly trims: number;
  /** Acknowledged messages that were gone with their segments at the end. */
  readonly trimmed: number;
  /** Polls of a group's members that stored the offset of what they brought. */
  readonly autoCommits: number;
  readonly simulatedMs: number;
}

/** A history that broke a promise; its message begins with the seed and ends with the last events. */
class BrokenHistory extends Error {
  constructor(world: HistoryWorld, cause: unknown) {
    const text = cause instanceof Error ? cause.message : String(cause);
    super(
      `seed ${world.seed}, ${world.nowMs.toFixed(0)} ms: ${text}\n${world.lines.slice(-LINES_SHOWN).join("\n")}`,
      { cause },
    );
    if (cause instanceof Error && cause.stack !== undefined) this.stack = `${this.message}\n${cause.stack}`;
  }
}

/** Lines of a broken history that are shown. */
const LINES_SHOWN = 40;
/** So few that a node that was away needs the metadata of another one now and then. */
const SNAPSHOT_EVERY_OPS = 10;
/** Of every node; small segments are for topics that ask for them. */
const CONFIG = {
  snapshotEveryOps: SNAPSHOT_EVERY_OPS,
  segmentSizeMin: SEGMENT_SIZE_MIN,
  messageCleaner: { isEnabled: true, intervalMs: CLEANER_INTERVAL_MS },
};
/** Batches that one of the producers has under way at once. */
const UNDER_WAY_MAX = 4;
/** One node's time passes faster than another's by this part at most. */
const CLOCK_DRIFT = 0.1;
/** Simulated milliseconds after which members that left the cluster without a word are members no more. */
const MEMBERS_LOST_MAX_MS = 100_000;
/** Every so many seeds the nodes encrypt what they store, with one key. */
const ENCRYPTED_EVERY = 4;
const KEY_LENGTH = 32;
/** Message memory of a node: many times what a history writes, and little for who starts a thousand nodes. */
const POOL_LENGTH = 4 * 1024 * 1024;
/** So small that a read of many segments finds a block for each. */
const BLOCK_LENGTH = 16_384;
/** Simulated milliseconds after which something waits for ever. */
const HISTORY_MAX_MS = 360_000;

/**
 * Plays the history of a seed: clients that write and read a cluster of three brokers while nodes, disks and
 * links fail; then all is mended, and what the clients were told must be true on each node. A fixed share of
 * the seeds has nodes that encrypt what they store.
 *
 * @param note takes each line of the history as it comes
 * @throws Error that names the seed, when a promise was broken
 */
export async function runHistory(seed: number, note?: (line: string) => void): Promise<HistoryEnd> {
  // Both take real time at their first use, while the clock of a history would go on.
  await Promise.all([loadTokenDigest(), loadKeyHash()]);
  const rolls = new Rolls();
  const cluster = new TestCluster(3, {
    ...{ seed, clock: new SimClock({ isClosed: true }) },
    ...{ poolLength: POOL_LENGTH, blockLength: BLOCK_LENGTH },
    config: CONFIG,
    diskFaults: rolls.see,
    key: seed % ENCRYPTED_EVERY === 0 ? new Uint8Array(KEY_LENGTH).fill(seed) : undefined,
  });
  const world = new HistoryWorld(seed, cluster, rolls, note);
  try {
    await play(world);
  } catch (error) {
    throw new BrokenHistory(world, error);
  }
  const acknowledged = world.topics.reduce((sum, topic) => sum + topic.acknowledgedCount, 0);
  const trimmed = world.topics.reduce((sum, topic) => sum + topic.trimmedCount, 0);
  const { lines, operations, faults, ticksMended: ticks, trims, autoCommits, rollLosses } = world;
  const played = { rolls: rolls.count, rollLosses, trims, trimmed, autoCommits };
  return { lines, acknowledged, operations, faults, ticks, ...played, simulatedMs: world.nowMs };
}

async function play(world: HistoryWorld): Promise<void> {
  const { cluster } = world;
  const random = world.randomOf(0);
  const isPersisted = random.chance(0.5);
  for (const node of cluster.nodes) {
    node.clockSkewMicros = Math.round((random.fraction() - 0.5) * 1000 * CLOCK_SKEW_MS);
    node.clockRate = 1 + (random.fraction() - 0.5) * CLOCK_DRIFT;
  }
  for (const at of cluster.nodes.keys()) await cluster.startNode(at);
  const root = await cluster.login(await cluster.metadataPrimary(), 99n);
  await cluster.drive(root.ok("CreateStream", encodeCreateStream({ name: STREAM, options: NO_OPTIONS })));
  root.close();
  const administrator = new Administrator(world, 1, { isPersisted });
  for (let count = 0; count < 2; count += 1) await cluster.drive(administrator.create());
  const group = await makeGroup(world);
  const loss = random.fraction();
  const [hasWipe, hasGoneFiles, hasRot] = [loss < 0.15, loss >= 0.15 && loss < 0.3, loss >= 0.6];
  const hasPowerLoss = isPersisted ? "often" : loss < 0.3 || hasRot ? "never" : "apart";
  const kinds = { hasPowerLoss, hasWipe, hasGoneFiles, hasRot } as const;
  const faults = new Faults(world, random, kinds);
  const producers = [2, 3, 4].map((number) => new Producer(world, number, number === 4 ? UNDER_WAY_MAX : 1));
  const consumers = [5, 6].map((number) => new Consumer(world, number));
  const members = [7, 8].map((number) => new Member(world, number, group));
  const actors = [administrator, ...producers, ...consumers, ...members].map((actor) => actor.run());
  await driveAll(world, [faults.run(), ...actors]);
  await progress(world);
  await driveAll(world, [readToTheEnd(world, group)]);
  await compareNodes(world, { consumers, group });
  await purgeAll(world, administrator);
  await compareNodes(world, { consumers, group });
  await cluster.stop();
}

/** A group that reads the first topic, which nobody purges. */
async function makeGroup(world: HistoryWorld): Promise<GroupOracle> {
  const [first] = world.topics;
  assert.ok(first?.isPermanent === true);
  const { cluster } = world;
  const root = await cluster.login(await cluster.metadataPrimary(), 99n);
  const body = encodeCreateConsumerGroup({ ...placeOf(first), name: GROUP });
  await cluster.drive(root.ok("CreateConsumerGroup", body));
  root.close();
  return new GroupOracle(world.partitionsOf(first), () => world.nowMs);
}

/** A member alone comes to everything that was acknowledged, once the others' partitions are its own. */
async function readToTheEnd(world: HistoryWorld, group: GroupOracle): Promise<void> {
  const startMs = world.nowMs;
  const member = new Member(world, 11, group);
  const { client } = member;
  while (group.left().length > 0) {
    world.healedMs = world.nowMs;
    const leftMs = startMs + MEMBERS_LOST_MAX_MS - world.nowMs;
    assert.ok(leftMs > 0, `the group never reads ${group.left().slice(0, 10)}`);
    if (await client.goTo(client.node)) {
      await member.read({ mayForget: false });
      if (world.plan.autoCommits !== "never") await member.look();
    }
    await world.sleep(100);
  }
  member.leave();
}

/** Lets time pass until all have ended; the first that fails ends it. */
async function driveAll(world: HistoryWorld, all: readonly Promise<void>[]): Promise<void> {
  let isOver = false;
  const over = Promise.all(all).finally(() => {
    isOver = true;
  });
  over.catch(() => {});
  const isInTime = await world.cluster.clock.runUntil(() => isOver, HISTORY_MAX_MS);
  assert.ok(isInTime, "nodes start and clients come to their end");
  await over;
}

/** A mended cluster takes a new message for every topic. */
async function progress(world: HistoryWorld): Promise<void> {
  world.healedMs = world.nowMs;
  const producer = new Producer(world, 9);
  for (const topic of world.keptTopics) await driveAll(world, [producer.send(topic)]);
  producer.leave();
}

/** Takes away what may be taken away, while all is well, and writes to it again. */
async function purgeAll(world: HistoryWorld, administrator: Administrator): Promise<void> {
  world.healedMs = world.nowMs;
  const producer = new Producer(world, 10);
  for (const topic of world.keptTopics) {
    if (topic.isPermanent) continue;
    if (topic.trims !== undefined) await driveAll(world, [administrator.trimAll(topic)]);
    if (topic.isPurged && topic.partitionId === 0) await driveAll(world, [administrator.purge(topic)]);
    await driveAll(world, [producer.send(topic)]);
  }
  administrator.leave();
  producer.leave();
}
