import { setTimeout as sleep } from "node:timers/promises";
import { MillraceClient } from "@millrace/client";
import { SeededRandom } from "@millrace/testkit";
import { MessageContent } from "../content/message-content.ts";
import { withinTime } from "../deadline.ts";
import { describeBatch, SentBatches } from "../oracle/sent-batches.ts";
import { TopicHistory } from "../oracle/topic-history.ts";
import { asViolation, Violation } from "../oracle/violation.ts";
import { chooseClusterFault, strike } from "./cluster-fault.ts";
import { type ClusterNodes, NODES } from "./cluster-nodes.ts";
import { ClusterReader } from "./cluster-reader.ts";
import type { ClusterStrangers } from "./cluster-strangers.ts";
import { ClusterWriter } from "./cluster-writer.ts";

const TOPIC = "replicated";
const PARTITIONS = 2;
const WRITERS_PER_PARTITION = 2;
/** Everything runs before a fault strikes. */
const CALM_MS = 500;
const LOOK_MS = 20;
/** A view change takes some seconds; a cluster that takes nothing for so long after it healed hangs. */
const WRITABLE_MAX_MS = 30_000;
/** A wiped node reads everything back. */
const CAUGHT_UP_MAX_MS = 60_000;

/** Writers on a cluster, faults, and what has to be there afterwards. */
export class ClusterRun {
  readonly #nodes: ClusterNodes;
  readonly #random: SeededRandom;
  readonly #topic: TopicHistory;
  readonly #writers: readonly ClusterWriter[];
  readonly #reader: ClusterReader;
  #work: Promise<void>[] = [];
  #violation: Violation | undefined;

  constructor(nodes: ClusterNodes, seed: number) {
    this.#nodes = nodes;
    this.#random = new SeededRandom(seed);
    const content = new MessageContent(seed);
    const sent = new SentBatches();
    const topic = new TopicHistory(TOPIC, PARTITIONS, sent);
    this.#topic = topic;
    this.#reader = new ClusterReader(nodes, topic, content);
    this.#writers = Array.from({ length: PARTITIONS * WRITERS_PER_PARTITION }, (_, at) => {
      const random = new SeededRandom(seed + at + 1);
      const own = { name: `writer-${at}`, client: BigInt(at + 1), partitionId: at % PARTITIONS, random };
      return new ClusterWriter({ ...own, nodes, topic, sent, content });
    });
  }

  /** Starts the nodes, makes the topic and lets the writers begin. */
  async begin(): Promise<void> {
    for (const { server } of this.#nodes.nodes) {
      server.onUnwantedExit = (violation) => {
        this.#violation ??= violation;
      };
    }
    await this.#nodes.startAll();
    const address = this.#nodes.nodes.map(({ clientPort }) => `127.0.0.1:${clientPort}`);
    const client = await MillraceClient.connect({ address, username: "iggy", password: "iggy" });
    await client.createStream("torture");
    await client.createTopic("torture", { name: TOPIC, partitionsCount: PARTITIONS });
    await client.close();
    this.#work = this.#writers.map((writer) =>
      writer.work().catch((error: unknown) => {
        this.#violation ??= asViolation(error);
      }),
    );
    await this.untilWritable();
    await this.#reader.untilCaughtUp(CAUGHT_UP_MAX_MS);
  }

  /** What does not belong to the cluster comes to it, and it goes on; answers what came. Throws Violation. */
  async meet(strangers: ClusterStrangers): Promise<string> {
    await strangers.sendBytes(this.#random);
    const told = await strangers.intrude();
    await this.untilWritable();
    await this.#reader.untilCaughtUp(CAUGHT_UP_MAX_MS);
    return told;
  }

  /** One fault and what heals it; answers what happened. Throws Violation. */
  async round(number: number): Promise<string> {
    for (const writer of this.#writers) writer.beginRound(number);
    await sleep(CALM_MS);
    const before = this.#topic.acknowledgedCount;
    const primary = this.#writers[0]?.node ?? 0;
    const told = await strike(this.#nodes, chooseClusterFault(this.#random), { primary, round: number });
    const writableMs = await this.untilWritable();
    await this.#reader.untilCaughtUp(CAUGHT_UP_MAX_MS);
    const count = this.#topic.acknowledgedCount - before;
    return `${told}; written again after ${writableMs.toFixed(0)} ms; ${count} acknowledged`;
  }

  /** Stops the writers and reads every node. Answers the messages that each of them has. */
  async finish(): Promise<number> {
    for (const writer of this.#writers) writer.stop();
    await withinTime("the last batches", WRITABLE_MAX_MS, Promise.all(this.#work));
    this.#check();
    await this.#reader.untilCaughtUp(CAUGHT_UP_MAX_MS);
    const counts: number[] = [];
    for (const at of NODES) counts.push(await this.#reader.readNode(at));
    if (new Set(counts).size !== 1) throw new Violation("lost", `the nodes have ${counts} messages`);
    for (const batch of this.#writers.flatMap(({ unplaced }) => unplaced)) {
      if (batch.baseOffset < 0) throw new Violation("lost", `${describeBatch(batch)} is on no node`);
    }
    return counts[0] as number;
  }

  /** Waits until every writer had a batch acknowledged. Answers milliseconds. Throws Violation. */
  async untilWritable(): Promise<number> {
    const startedMs = performance.now();
    const before = this.#writers.map(({ acknowledgedCount }) => acknowledgedCount);
    for (;;) {
      this.#check();
      const waiting = this.#writers.filter(({ acknowledgedCount }, at) => acknowledgedCount === before[at]);
      const ms = performance.now() - startedMs;
      if (waiting.length === 0) return ms;
      if (ms > WRITABLE_MAX_MS) {
        const names = waiting.map(({ name }) => name).join(", ");
        throw new Violation("server", `nothing of ${names} was taken within ${WRITABLE_MAX_MS} ms`);
      }
      await sleep(LOOK_MS);
    }
  }

  #check(): void {
    if (this.#violation !== undefined) throw this.#violation;
  }
}
