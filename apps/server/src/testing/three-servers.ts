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
  /** Variables of the starts from now on. */
  environment: Readonly<Record<string, string>>;

  constructor(place: NodePlace, environment: Readonly<Record<string, string>>) {
    this.#place = place;
    this.environment = environment;
  }

  /** What its last start has printed so far. */
  get printed(): string {
    return `${this.#process?.stdout}${this.#process?.stderr}`;
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
      ...this.environment,
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

  /** Starts all three with these variables and waits until they serve. */
  static async start(environment: Readonly<Record<string, string>> = {}): Promise<ThreeServers> {
    const makeNode = (place: NodePlace) => new NodeServer(place, environment);
    const nodes = await ThreeNodes.prepare({ name: "three", makeNode });
    await nodes.startAll();
    return new ThreeServers(nodes);
  }

  /** Starts one that does not run and waits until it serves; from now on with `environment` when given. */
  startAgain(replica: number, environment?: Readonly<Record<string, string>>): Promise<void> {
    if (environment !== undefined) this.#nodes.node(replica).environment = environment;
    return this.#nodes.start(replica);
  }

  /** What the last start of a node has printed so far. */
  printed(replica: number): string {
    return this.#nodes.node(replica).printed;
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
