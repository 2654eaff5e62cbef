import { setTimeout as sleep } from "node:timers/promises";
import { MillraceClient } from "@millrace/client";
import { NODES, SeededRandom } from "@millrace/testkit";
import { MessageContent } from "../content/message-content.ts";
import { withinTime } from "../deadline.ts";
import { describeBatch, SentBatches } from "../oracle/sent-batches.ts";
import { TopicHistory } from "../oracle/topic-history.ts";
import { asViolation, Violation } from "../oracle/violation.ts";
import type { PartitionPlace } from "./batch-request.ts";
import { ClusterCatalog } from "./cluster-catalog.ts";
import { chooseClusterFault, strike } from "./cluster-fault.ts";
import type { ClusterNodes } from "./cluster-nodes.ts";
import { ClusterReader, type NodeContent } from "./cluster-reader.ts";
import type { ClusterStrangers } from "./cluster-strangers.ts";
import { ClusterWriter } from "./cluster-writer.ts";
import { isRegisterHistory } from "./linearizability/register.ts";
import { RegisterClient } from "./register-client.ts";

/** Topics by their ids, and how many partitions each has. */
const TOPICS = [
  { name: "replicated", durability: "replicated", partitionsCount: 8 },
  { name: "persisted", durability: "persisted", partitionsCount: 8 },
] as const;
/** Each partition has two of them. */
const WRITERS_PER_TOPIC = 4;
/** A topic with one partition that is used as a register, behind the others. */
const REGISTER = { name: "register", partitionsCount: 1 } as const;
const REGISTER_CLIENTS = 4;
/** Ids of the register's clients begin here. */
const REGISTER_CLIENT = 500n;
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
  readonly #topics: readonly TopicHistory[];
  readonly #writers: readonly ClusterWriter[];
  readonly #registers: readonly RegisterClient[];
  readonly #catalog: ClusterCatalog;
  readonly #reader: ClusterReader;
  #work: Promise<void>[] = [];
  #violation: Violation | undefined;

  constructor(nodes: ClusterNodes, seed: number) {
    this.#nodes = nodes;
    this.#random = new SeededRandom(seed);
    const content = new MessageContent(seed);
    const sent = new SentBatches();
    this.#registers = registerClients(nodes, seed);
    this.#catalog = new ClusterCatalog(nodes, new SeededRandom(seed + 2000));
    this.#topics = TOPICS.map((topic) => new TopicHistory(topic.name, topic.partitionsCount, sent));
    this.#reader = new ClusterReader(nodes, this.#topics, content);
    this.#writers = this.#topics.flatMap((topic, id) =>
      Array.from({ length: WRITERS_PER_TOPIC }, (_, index) => {
        const at = WRITERS_PER_TOPIC * id + index;
        const random = new SeededRandom(seed + at + 1);
        const own = { name: `writer-${at}`, client: BigInt(at + 1), places: placesOf(id, index), random };
        return new ClusterWriter({ ...own, nodes, topic, sent, content });
      }),
    );
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
    for (const topic of [...TOPICS, REGISTER]) await client.createTopic("torture", topic);
    await client.close();
    this.#work = this.#actors.map((writer) =>
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
  async round(number: number, fault = chooseClusterFault(this.#random)): Promise<string> {
    for (const writer of this.#writers) writer.beginRound(number);
    await sleep(CALM_MS);
    const before = this.acknowledgedCount;
    const primary = this.#writers[0]?.node ?? 0;
    const told = await strike(this.#nodes, fault, { primary, round: number });
    const writableMs = await this.untilWritable();
    await this.#reader.untilCaughtUp(CAUGHT_UP_MAX_MS);
    const count = this.acknowledgedCount - before;
    return `${told}; written again after ${writableMs.toFixed(0)} ms; ${count} acknowledged`;
  }

  /** Stops the writers, reads every node and judges the register. Answers what there is. Throws Violation. */
  async finish(): Promise<string> {
    for (const actor of this.#actors) actor.stop();
    await withinTime("the last batches", WRITABLE_MAX_MS, Promise.all(this.#work));
    this.#check();
    await this.#reader.untilCaughtUp(CAUGHT_UP_MAX_MS);
    const contents: NodeContent[] = [];
    for (const at of NODES) contents.push(await this.#reader.readNode(at));
    const counts = contents.map(({ messages }) => messages);
    if (new Set(counts).size !== 1) throw new Violation("lost", `the nodes have ${counts} messages`);
    if (new Set(contents.map(({ digest }) => digest)).size !== 1)
      throw new Violation("altered", "the nodes answer other bytes for the same messages");
    for (const batch of this.#writers.flatMap(({ unplaced }) => unplaced)) {
      if (batch.baseOffset < 0) throw new Violation("lost", `${describeBatch(batch)} is on no node`);
    }
    await this.#catalog.judge();
    const all = `${counts[0]} messages and ${this.#catalog.createdCount} streams, the same on every node`;
    return `${all}; ${this.#judgeRegister()}`;
  }

  get #actors() {
    return [...this.#writers, ...this.#registers, this.#catalog];
  }

  /** Messages that were acknowledged so far. */
  get acknowledgedCount(): number {
    return this.#topics.reduce((sum, { acknowledgedCount }) => sum + acknowledgedCount, 0);
  }

  #judgeRegister(): string {
    const history = this.#registers.flatMap((client) => client.history);
    if (!isRegisterHistory(history)) {
      const text = history.map((operation) => JSON.stringify(operation)).join("\n");
      throw new Violation("not-linearizable", `the register did what no register does:\n${text}`);
    }
    const open = history.filter(({ returnMs }) => returnMs === Number.POSITIVE_INFINITY).length;
    return `${history.length} operations on a register, ${open} without an answer, are linearizable`;
  }

  /**
   * Waits until every partition of every writer has taken a batch. Answers milliseconds. Throws Violation.
   */
  async untilWritable(): Promise<number> {
    const startedMs = performance.now();
    const before = this.#writers.map(({ acknowledgedCount }) => acknowledgedCount);
    for (;;) {
      this.#check();
      const waiting = this.#writers.filter(
        ({ acknowledgedCount, turnLength }, at) => acknowledgedCount < (before[at] ?? 0) + turnLength,
      );
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

/** Every second partition of a topic. */
function placesOf(topic: number, writer: number): PartitionPlace[] {
  const { partitionsCount } = TOPICS[topic] as (typeof TOPICS)[number];
  const all = Array.from({ length: partitionsCount }, (_, partition) => ({ topic, partition }));
  return all.filter(({ partition }) => partition % 2 === writer % 2);
}

function registerClients(nodes: ClusterNodes, seed: number): RegisterClient[] {
  const place = { topic: TOPICS.length, partition: 0 };
  let value = 0;
  const nextValue = () => {
    value += 1;
    return value;
  };
  return Array.from({ length: REGISTER_CLIENTS }, (_, at) => {
    const random = new SeededRandom(seed + 1000 + at);
    return new RegisterClient({ client: REGISTER_CLIENT + BigInt(at), place, nodes, random, nextValue });
  });
}
