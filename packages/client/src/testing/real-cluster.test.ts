import { NODES, type NodePlace, ThreeNodes } from "@millrace/testkit";
import { RealServer } from "./real-server.test.ts";

/** A node of a cluster has one shard, however many the run asks for: with more the start is refused. */
const ONE_SHARD = { MILLRACE_SHARDING_CPU_ALLOCATION: "1" };

/** Three server processes that are a cluster; each can be killed and started again. */
export class RealCluster {
  readonly #nodes: ThreeNodes<RealServer>;

  private constructor(nodes: ThreeNodes<RealServer>) {
    this.#nodes = nodes;
  }

  /** Starts all three and waits until they listen. */
  static async start(): Promise<RealCluster> {
    const nodes = await ThreeNodes.prepare({ name: "client", listeners: ["websocket"], makeNode });
    await nodes.startAll();
    return new RealCluster(nodes);
  }

  /** Addresses for clients, by node. */
  get addresses(): readonly string[] {
    return this.#servers.map(({ address }) => address);
  }

  kill(at: number): Promise<void> {
    return this.#nodes.kill(at);
  }

  startAgain(at: number): Promise<void> {
    return this.#nodes.start(at);
  }

  async remove(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.remove()));
    this.#nodes.removeFolder();
  }

  get #servers(): readonly RealServer[] {
    return NODES.map((at) => this.#nodes.node(at));
  }
}

function makeNode({ args, ports }: NodePlace): RealServer {
  const server = new RealServer(ONE_SHARD, args);
  server.address = `127.0.0.1:${ports.tcp}`;
  server.webSocketAddress = `127.0.0.1:${ports.websocket}`;
  return server;
}
