import assert from "node:assert/strict";
import { type NodePlace, type NodeProcess, ThreeNodes } from "@millrace/testkit";
import { RawClient } from "./raw-client.ts";
import { ServerProcess } from "./server-process.ts";

/** Logins of one test, so that each client has an id of its own. */
let clients = 0n;

/** One of three servers: a new process at each start, on the same data. */
class NodeServer implements NodeProcess {
  readonly #place: NodePlace;
  #process: ServerProcess | undefined;

  constructor(place: NodePlace) {
    this.#place = place;
  }

  get port(): number {
    return this.#place.ports.tcp ?? 0;
  }

  async start(): Promise<void> {
    const { args, data } = this.#place;
    this.#process = new ServerProcess([...args, "--data", data, "--with-default-root-credentials"], {
      MILLRACE_TCP_ADDRESS: `127.0.0.1:${this.port}`,
      MILLRACE_HTTP_ENABLED: "false",
      MILLRACE_WEBSOCKET_ENABLED: "false",
      // However many the run asks for: with more the start of a node is refused.
      MILLRACE_SHARDING_CPU_ALLOCATION: "1",
    });
    assert.equal(await this.#process.port(), this.port);
  }

  async kill(): Promise<void> {
    assert.equal(await this.#end("SIGKILL"), "SIGKILL");
  }

  /** Answers the exit code. */
  stop(): Promise<number | string> {
    return this.#end("SIGTERM");
  }

  #end(signal: NodeJS.Signals): Promise<number | string> {
    const process = this.#process;
    assert.ok(process !== undefined, "it was started");
    process.signal(signal);
    return process.exit();
  }
}

/** A cluster of three servers of the built product. */
export class ThreeServers {
  readonly #nodes: ThreeNodes<NodeServer>;

  private constructor(nodes: ThreeNodes<NodeServer>) {
    this.#nodes = nodes;
  }

  /** Starts all three and waits until they serve. */
  static async start(): Promise<ThreeServers> {
    const nodes = await ThreeNodes.prepare({ name: "three", makeNode: (place) => new NodeServer(place) });
    await nodes.startAll();
    return new ThreeServers(nodes);
  }

  /** Starts one that does not run and waits until it serves. */
  startAgain(replica: number): Promise<void> {
    return this.#nodes.start(replica);
  }

  /** Folder of a node's data. */
  dataOf(replica: number): string {
    return this.#nodes.dataOf(replica);
  }

  /** A new connection to a node, logged in as the root user. */
  async login(replica: number): Promise<RawClient> {
    const client = new RawClient(this.#nodes.node(replica).port, 1000n + clients++);
    try {
      const { code } = await client.login("iggy", "iggy");
      if (code !== 0) throw new Error(`login answered ${code}`);
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  kill(replica: number): Promise<void> {
    return this.#nodes.kill(replica);
  }

  /** Asks those that run to stop, one after the other, and answers their exit codes. */
  stop(): Promise<(number | string)[]> {
    return this.#nodes.endEach((node) => node.stop());
  }

  /** Ends whatever still runs and removes the data. */
  async remove(): Promise<void> {
    await this.#nodes.endEach((node) => node.kill().catch(() => {}));
    this.#nodes.removeFolder();
  }
}
