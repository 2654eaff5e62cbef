import { rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MillraceClient } from "@millrace/client";
import { ALL_CORES } from "../child-process.ts";
import { type MillraceTarget, makeDataFolder, startMillraceOn } from "../millrace-target.ts";

/** Numbers of the nodes. */
export const NODES = [0, 1, 2] as const;
/** A cluster whose folders are empty forms when all have met; a busy machine takes its time. */
const READY_MAX_MS = 30_000;
const ASK_MS = 50;

/** A cluster of three processes of the built server, on all cores, with default times. */
export class ThreeNodes {
  readonly #folder: string;
  readonly #ports: readonly number[];
  readonly #targets = new Map<number, MillraceTarget>();

  private constructor(folder: string, ports: readonly number[]) {
    this.#folder = folder;
    this.#ports = ports;
  }

  /** Starts all three and waits until one of them leads. */
  static async start(): Promise<ThreeNodes> {
    const nodes = new ThreeNodes(await makeDataFolder(), await freePorts(2 * NODES.length));
    await writeFile(nodes.#config, nodes.#roster());
    await Promise.all(NODES.map((at) => nodes.startAgain(at)));
    await nodes.leader();
    return nodes;
  }

  /** Process ids of those that run. */
  get pids(): number[] {
    return [...this.#targets.values()].map(({ pid }) => pid);
  }

  /** Port for clients. */
  portOf(at: number): number {
    return this.#ports[at] ?? 0;
  }

  /** Starts a node that does not run, on the data it had. */
  async startAgain(at: number): Promise<void> {
    const env = {
      MILLRACE_TCP_ADDRESS: `127.0.0.1:${this.portOf(at)}`,
      MILLRACE_WEBSOCKET_ENABLED: "false",
    };
    const args = ["--config", this.#config, "--replica-id", String(at)];
    const options = { args, cores: ALL_CORES };
    this.#targets.set(at, await startMillraceOn(join(this.#folder, `n${at}`), env, options));
  }

  /** `kill -9`. */
  async kill(at: number): Promise<void> {
    await this.#targets.get(at)?.kill();
    this.#targets.delete(at);
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
    const address = [...this.#targets.keys()].map((at) => `127.0.0.1:${this.portOf(at)}`);
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
    await Promise.all([...this.#targets.values()].map((target) => target.stop()));
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #config(): string {
    return join(this.#folder, "cluster.toml");
  }

  #roster(): string {
    const nodes = NODES.map((at) => {
      const ports = `{ tcp = ${this.portOf(at)}, tcp_replica = ${this.#ports[NODES.length + at]} }`;
      return `[[cluster.nodes]]\nname = "n${at}"\nip = "127.0.0.1"\nreplica_id = ${at}\nports = ${ports}\n`;
    });
    return `[cluster]\nenabled = true\nname = "bench"\n${nodes.join("")}`;
  }
}

/** Ports that were free a moment ago: all are held at once, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, hold));
  const ports = held.map((server) => (server.address() as { port: number }).port);
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function hold(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}
