import { setTimeout as sleep } from "node:timers/promises";
import { MillraceClient } from "@millrace/client";
import { NODES, type NodePlace, type NodeProcess, ThreeNodes } from "@millrace/testkit";
import { ALL_CORES } from "../child-process.ts";
import { type MillraceTarget, startMillraceOn } from "../millrace-target.ts";

/** A cluster whose folders are empty forms when all have met; a busy machine takes its time. */
const READY_MAX_MS = 30_000;
const ASK_MS = 50;

/** One node under measurement: a new process at each start, on the same data. */
class BenchNode implements NodeProcess {
  readonly #place: NodePlace;
  #target: MillraceTarget | undefined;

  constructor(place: NodePlace) {
    this.#place = place;
  }

  get pid(): number {
    return this.#target?.pid ?? 0;
  }

  async start(): Promise<void> {
    const { args, data, ports } = this.#place;
    const env = { MILLRACE_TCP_ADDRESS: `127.0.0.1:${ports.tcp}`, MILLRACE_WEBSOCKET_ENABLED: "false" };
    this.#target = await startMillraceOn(data, env, { args, cores: ALL_CORES });
  }

  async kill(): Promise<void> {
    await this.#target?.kill();
  }

  async stop(): Promise<void> {
    await this.#target?.stop();
  }
}

/** A cluster of three processes of the built server, on all cores, with default times. */
export class BenchNodes {
  readonly #nodes: ThreeNodes<BenchNode>;

  private constructor(nodes: ThreeNodes<BenchNode>) {
    this.#nodes = nodes;
  }

  /** Starts all three and waits until one of them leads. */
  static async start(): Promise<BenchNodes> {
    const makeNode = (place: NodePlace) => new BenchNode(place);
    const parent = process.env["MILLRACE_BENCH_DIR"];
    const nodes = new BenchNodes(await ThreeNodes.prepare({ name: "bench", parent, makeNode }));
    await nodes.#nodes.startAll();
    await nodes.leader();
    return nodes;
  }

  /** Process ids of those that run. */
  get pids(): number[] {
    return this.#nodes.running.map((at) => this.#nodes.node(at).pid);
  }

  /** Port for clients. */
  portOf(at: number): number {
    return this.#nodes.portsOf(at).tcp ?? 0;
  }

  /** Starts a node that does not run, on the data it had. */
  startAgain(at: number): Promise<void> {
    return this.#nodes.start(at);
  }

  /** `kill -9`. */
  kill(at: number): Promise<void> {
    return this.#nodes.kill(at);
  }

  /** The node that leads now. Waits for one; throws when there is none in time. */
  async leader(): Promise<number> {
    const client = await this.client();
    const port = Number(client.address.split(":").at(-1));
    await client.close();
    return NODES.find((at) => this.portOf(at) === port) ?? 0;
  }

  /** A client of the cluster, connected to the node that leads. */
  async client(): Promise<MillraceClient> {
    const address = this.#nodes.running.map((at) => `127.0.0.1:${this.portOf(at)}`);
    const endMs = performance.now() + READY_MAX_MS;
    for (;;) {
      try {
        return await MillraceClient.connect({ address, username: "iggy", password: "iggy" });
      } catch (error) {
        if (performance.now() > endMs) throw error;
        await sleep(ASK_MS);
      }
    }
  }

  /** Stops all and removes their data. */
  async stop(): Promise<void> {
    await this.#nodes.endEach((node) => node.stop());
    this.#nodes.removeFolder();
  }
}
