import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RawClient } from "./raw-client.ts";
import { ServerProcess } from "./server-process.ts";

const REPLICAS = [0, 1, 2] as const;

/** Logins of one test, so that each client has an id of its own. */
let clients = 0n;

/** A cluster of three servers of the built product, on ports that were free a moment ago. */
export class ThreeServers {
  readonly #folder: string;
  readonly #ports: readonly number[];
  readonly #servers = new Map<number, ServerProcess>();

  private constructor(folder: string, ports: readonly number[]) {
    this.#folder = folder;
    this.#ports = ports;
  }

  /** Starts all three and waits until they serve. */
  static async start(): Promise<ThreeServers> {
    const folder = await mkdtemp(join(tmpdir(), "millrace-three-"));
    const servers = new ThreeServers(folder, await freePorts(2 * REPLICAS.length));
    await writeFile(servers.#config, servers.#roster());
    await Promise.all(REPLICAS.map((replica) => servers.startAgain(replica)));
    return servers;
  }

  /** Starts one that does not run and waits until it serves. */
  async startAgain(replica: number): Promise<void> {
    const args = ["--config", this.#config, "--replica-id", String(replica), "--data", this.dataOf(replica)];
    const server = new ServerProcess([...args, "--with-default-root-credentials"], {
      MILLRACE_TCP_ADDRESS: `127.0.0.1:${this.#portOf(replica)}`,
      MILLRACE_HTTP_ENABLED: "false",
      MILLRACE_WEBSOCKET_ENABLED: "false",
      // However many the run asks for: with more the start of a node is refused.
      MILLRACE_SHARDING_CPU_ALLOCATION: "1",
    });
    this.#servers.set(replica, server);
    assert.equal(await server.port(), this.#portOf(replica));
  }

  /** Folder of a node's data. */
  dataOf(replica: number): string {
    return join(this.#folder, `n${replica}`);
  }

  /** A new connection to a node, logged in as the root user. */
  async login(replica: number): Promise<RawClient> {
    const client = new RawClient(this.#portOf(replica), 1000n + clients++);
    try {
      const { code } = await client.login("iggy", "iggy");
      if (code !== 0) throw new Error(`login answered ${code}`);
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  async kill(replica: number): Promise<void> {
    const server = this.#servers.get(replica);
    server?.signal("SIGKILL");
    assert.equal(await server?.exit(), "SIGKILL");
    this.#servers.delete(replica);
  }

  /** Asks those that run to stop, one after the other, and answers their exit codes. */
  async stop(): Promise<(number | string)[]> {
    const codes: (number | string)[] = [];
    for (const [replica, server] of this.#servers) {
      server.signal("SIGTERM");
      codes.push(await server.exit());
      this.#servers.delete(replica);
    }
    return codes;
  }

  /** Ends whatever still runs and removes the data. */
  async remove(): Promise<void> {
    for (const replica of [...this.#servers.keys()]) await this.kill(replica).catch(() => {});
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #config(): string {
    return join(this.#folder, "cluster.toml");
  }

  #portOf(replica: number): number {
    return this.#ports[replica] ?? 0;
  }

  #roster(): string {
    const nodes = REPLICAS.map((replica) => {
      const between = this.#ports[REPLICAS.length + replica];
      const ports = `ports = { tcp = ${this.#portOf(replica)}, tcp_replica = ${between} }`;
      return `[[cluster.nodes]]\nname = "n${replica}"\nip = "127.0.0.1"\nreplica_id = ${replica}\n${ports}\n`;
    });
    return `[cluster]\nenabled = true\nname = "three"\n${nodes.join("")}`;
  }
}

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
