import { createHash, type Hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { NODES } from "@millrace/testkit";
import type { MessageContent } from "../content/message-content.ts";
import { PartitionRead } from "../oracle/partition-read.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import { Violation } from "../oracle/violation.ts";
import { type PartitionPlace, type PolledPartition, pollBody, polled } from "./batch-request.ts";
import type { ClusterNode, ClusterNodes } from "./cluster-nodes.ts";
import { type NodeAnswer, NodeConnection } from "./node-connection.ts";

const POLL_COUNT = 1000;
const LOOK_MS = 100;
const LOGIN_MAX_MS = 30_000;
/** Client ids of the readers, one per node. */
const READER = 1000n;

/** Ends of the partitions of one node: one offset each, 0 also when it is empty. */
type Ends = readonly number[];

/** What a node has. */
export interface NodeContent {
  readonly messages: number;
  /** Of every byte it answers, so that nodes which have the same have the same one. */
  readonly digest: string;
}

/** Reads the nodes one by one: each answers from what it has itself. */
export class ClusterReader {
  readonly #nodes: ClusterNodes;
  readonly #topics: readonly TopicHistory[];
  readonly #content: MessageContent;

  /** @param topics  by their ids */
  constructor(nodes: ClusterNodes, topics: readonly TopicHistory[], content: MessageContent) {
    this.#nodes = nodes;
    this.#topics = topics;
    this.#content = content;
  }

  /** Waits until every node has what any of them has now. Throws Violation server when one does not. */
  async untilCaughtUp(limitMs: number): Promise<void> {
    const goal = endsOfMost(await Promise.all(NODES.map((at) => this.#ends(at, limitMs))));
    const isThere = (ends: Ends) => ends.every((end, id) => end >= (goal[id] as number));
    await Promise.all(NODES.map((at) => this.#until(at, limitMs, isThere, `${goal}`)));
  }

  /** Reads every partition of a node from its start and judges it. */
  async readNode(at: number): Promise<NodeContent> {
    const hash = createHash("sha256");
    let messages = 0;
    for (const place of this.#places()) {
      const read = new PartitionRead(this.#topics[place.topic] as TopicHistory, place.partition, 0);
      await this.#readPartition(at, place, { read, hash }).catch((error: unknown) => {
        if (!(error instanceof Violation)) throw error;
        throw new Violation(error.kind, `node ${at}: ${error.message}`, { cause: error });
      });
      messages += read.count;
    }
    return { messages, digest: hash.digest("hex") };
  }

  #places(): PartitionPlace[] {
    return this.#topics.flatMap(({ partitions }, topic) =>
      partitions.map((_, partition) => ({ topic, partition })),
    );
  }

  async #readPartition(
    at: number,
    place: PartitionPlace,
    { read, hash }: { readonly read: PartitionRead; readonly hash: Hash },
  ): Promise<void> {
    const connection = await this.#open(at);
    for (;;) {
      const strategy = { kind: "offset", offset: BigInt(read.next) } as const;
      const answer = await connection.command("PollMessages", pollBody(place, strategy, POLL_COUNT), 1n);
      if (answer !== undefined) hash.update(answer.payload);
      const { currentOffset, messages } = this.#polled(at, answer);
      for (const message of messages) read.see(message);
      if (messages.length > 0) continue;
      read.seeNothing(currentOffset);
      break;
    }
    read.finish();
    connection.close();
  }

  async #until(at: number, limitMs: number, isThere: (ends: Ends) => boolean, goal: string): Promise<void> {
    const endMs = performance.now() + limitMs;
    for (;;) {
      const ends = await this.#ends(at, limitMs);
      if (isThere(ends)) return;
      if (performance.now() > endMs) {
        const text = `node ${at} is at ${ends}, and others at ${goal}, ${limitMs} ms after everything healed`;
        throw new Violation("server", text);
      }
      await sleep(LOOK_MS);
    }
  }

  /** Where a node's partitions end. A node that has just come back may not know the topic yet. */
  async #ends(at: number, limitMs: number): Promise<Ends> {
    const endMs = performance.now() + limitMs;
    for (;;) {
      const ends = await this.#tryEnds(at);
      if (typeof ends !== "string") return ends;
      if (performance.now() > endMs)
        throw new Violation("server", `node ${at} was not asked for its ends in ${limitMs} ms: ${ends}`);
      await sleep(LOOK_MS);
    }
  }

  /** The ends, or why they cannot be told. */
  async #tryEnds(at: number): Promise<Ends | string> {
    const connection = await NodeConnection.open(this.#node(at).clientPort, READER + BigInt(at));
    const ends: number[] = [];
    for (const place of this.#places()) {
      const answer = await connection.command("PollMessages", pollBody(place, { kind: "last" }, 1), 1n);
      if (answer === undefined) return connection.trouble;
      if (answer.code !== 0) {
        connection.close();
        return `a poll was answered with ${answer.code}`;
      }
      ends.push(polled(this.#content, answer.payload).currentOffset);
    }
    connection.close();
    return ends;
  }

  /** A login is put off while a view changes. */
  async #open(at: number): Promise<NodeConnection> {
    for (const endMs = performance.now() + LOGIN_MAX_MS; ; await sleep(LOOK_MS)) {
      const connection = await NodeConnection.open(this.#node(at).clientPort, READER + BigInt(at));
      if (connection.isOpen) return connection;
      if (performance.now() > endMs) throw new Violation("server", `node ${at}: ${connection.trouble}`);
    }
  }

  #polled(at: number, answer: NodeAnswer | undefined): PolledPartition {
    if (answer?.code === 0) return polled(this.#content, answer.payload);
    throw new Violation("answer", `node ${at} answered a poll with ${answer?.code ?? "nothing"}`);
  }

  #node(at: number): ClusterNode {
    return this.#nodes.node(at);
  }
}

/** For each partition the furthest end of any node. */
function endsOfMost(ends: readonly Ends[]): Ends {
  const [first = []] = ends;
  return first.map((_, id) => Math.max(...ends.map((one) => one[id] as number)));
}
