import type { SeededRandom } from "@millrace/testkit";
import type { ClusterNodes } from "./cluster-nodes.ts";
import { NodeConnection } from "./node-connection.ts";

/** Who wanders, and where. */
export interface WanderingClientOptions {
  /** Id of the client, the same on every node. */
  readonly client: bigint;
  readonly nodes: ClusterNodes;
  /** Chooses the first node. */
  readonly random: SeededRandom;
}

/** One client that is connected to one node at a time, and goes on to the next one when told to. */
export class WanderingClient {
  readonly #options: WanderingClientOptions;
  #connection: NodeConnection | undefined;
  #node: number;

  constructor(options: WanderingClientOptions) {
    this.#options = options;
    this.#node = options.random.below(options.nodes.nodes.length);
  }

  /** The node that it is connected to, or tries now. */
  get node(): number {
    return this.#node;
  }

  /** The connection as it is now, open or not; nothing before the first `connected` and after a step. */
  get connection(): NodeConnection | undefined {
    return this.#connection;
  }

  /** The open connection, or a new one to the node, which is closed when that takes no login now. */
  async connected(): Promise<NodeConnection> {
    if (this.#connection?.isOpen === true) return this.#connection;
    const { nodes, client } = this.#options;
    this.#connection = await NodeConnection.open(nodes.node(this.#node).clientPort, client);
    return this.#connection;
  }

  /** Leaves the node; `connected` goes to the next one. */
  toNextNode(): void {
    this.close();
    this.#connection = undefined;
    this.#node = (this.#node + 1) % this.#options.nodes.nodes.length;
  }

  close(): void {
    this.#connection?.close();
  }
}
