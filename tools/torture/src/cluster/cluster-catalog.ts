import { setTimeout as sleep } from "node:timers/promises";
import { decodeGetStreamsReply, encodeCreateStream, NO_OPTIONS } from "@millrace/protocol";
import type { SeededRandom } from "@millrace/testkit";
import { NODES } from "@millrace/testkit";
import { Violation } from "../oracle/violation.ts";
import type { ClusterNodes } from "./cluster-nodes.ts";
import { NodeConnection } from "./node-connection.ts";

const PAUSE_MAX_MS = 150;
const LOGIN_MAX_MS = 30_000;
/** Client ids: of the one that creates, and of those that look. */
const CREATOR = 600n;
const LOOKER = 700n;
const NO_BODY = new Uint8Array(0);

/** Creates stream after stream through any node; what was acknowledged has to be on every node. */
export class ClusterCatalog {
  readonly #nodes: ClusterNodes;
  readonly #random: SeededRandom;
  readonly #created: string[] = [];
  #isStopWanted = false;

  constructor(nodes: ClusterNodes, random: SeededRandom) {
    this.#nodes = nodes;
    this.#random = random;
  }

  /** Streams whose creation was acknowledged. */
  get createdCount(): number {
    return this.#created.length;
  }

  /** Ends `work` behind the creation that is under way. */
  stop(): void {
    this.#isStopWanted = true;
  }

  /** Creates until `stop`. Each stream is asked for once: without an answer nothing is known of it. */
  async work(): Promise<void> {
    let connection: NodeConnection | undefined;
    for (let number = 1n; !this.#isStopWanted; number += 1n) {
      if (connection?.isOpen !== true) connection = await this.#openAny();
      const name = `stream-${number}`;
      const body = encodeCreateStream({ name, options: NO_OPTIONS });
      const answer = await connection.command("CreateStream", body, number);
      if (answer?.code === 0) this.#created.push(name);
      else connection.close();
      await sleep(this.#random.below(PAUSE_MAX_MS));
    }
    connection?.close();
  }

  #openAny(): Promise<NodeConnection> {
    const node = this.#nodes.node(this.#random.below(NODES.length));
    return NodeConnection.open(node.clientPort, CREATOR);
  }

  /** Compares the nodes with each other and with what was acknowledged. Throws Violation. */
  async judge(): Promise<void> {
    const lists = await Promise.all(NODES.map((at) => this.#streamsOf(at)));
    if (new Set(lists.map((list) => JSON.stringify(list))).size !== 1)
      throw new Violation("catalog", `the nodes have different streams: ${JSON.stringify(lists)}`);
    const names = new Set(lists[0]?.map(([, name]) => name));
    const missing = this.#created.filter((name) => !names.has(name));
    if (missing.length > 0)
      throw new Violation("catalog", `acknowledged and on no node: ${missing.join(", ")}`);
  }

  /** A login is put off while a view changes. */
  async #openNode(at: number): Promise<NodeConnection> {
    for (const endMs = performance.now() + LOGIN_MAX_MS; ; await sleep(PAUSE_MAX_MS)) {
      const connection = await NodeConnection.open(this.#nodes.node(at).clientPort, LOOKER + BigInt(at));
      if (connection.isOpen || performance.now() > endMs) return connection;
    }
  }

  /** Id, name and time of creation of each stream, as one node has them. */
  async #streamsOf(at: number): Promise<[number, string, number][]> {
    const connection = await this.#openNode(at);
    const answer = await connection.command("GetStreams", NO_BODY, 1n);
    connection.close();
    if (answer?.code !== 0)
      throw new Violation(
        "answer",
        `node ${at} does not tell its streams: ${answer?.code ?? connection.trouble}`,
      );
    return decodeGetStreamsReply(answer.payload).map(({ id, name, createdAt }) => [id, name, createdAt]);
  }
}
