import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { RealServer } from "./real-server.test.ts";

const NODES = [0, 1, 2] as const;
/** For each node one for TCP, for WebSocket and between the nodes. */
const PORTS_EACH = 3;
/** A node of a cluster has one shard, however many the run asks for: with more the start is refused. */
const ONE_SHARD = { MILLRACE_SHARDING_CPU_ALLOCATION: "1" };

/** Three server processes that are a cluster; each can be killed and started again. */
export class RealCluster {
  readonly servers: readonly RealServer[];
  readonly #folder: string;

  private constructor(folder: string, servers: readonly RealServer[]) {
    this.#folder = folder;
    this.servers = servers;
  }

  /** Starts all three, on ports that were free a moment ago, and waits until they listen. */
  static async start(): Promise<RealCluster> {
    const folder = mkdtempSync(join(tmpdir(), "millrace-client-cluster-"));
    const config = join(folder, "cluster.toml");
    const ports = await freePorts(PORTS_EACH * NODES.length);
    writeFileSync(config, rosterOf(ports));
    const servers = NODES.map((at) => {
      const server = new RealServer(ONE_SHARD, ["--config", config, "--replica-id", String(at)]);
      server.address = `127.0.0.1:${ports[PORTS_EACH * at]}`;
      server.webSocketAddress = `127.0.0.1:${ports[PORTS_EACH * at + 1]}`;
      return server;
    });
    await Promise.all(servers.map((server) => server.start()));
    return new RealCluster(folder, servers);
  }

  /** Addresses for clients, by node. */
  get addresses(): readonly string[] {
    return this.servers.map(({ address }) => address);
  }

  async kill(at: number): Promise<void> {
    await this.servers[at]?.kill();
  }

  async startAgain(at: number): Promise<void> {
    await this.servers[at]?.start();
  }

  async remove(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.remove()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function rosterOf(ports: readonly number[]): string {
  const nodes = NODES.map((at) => {
    const [tcp, websocket, between] = ports.slice(PORTS_EACH * at);
    const listed = `{ tcp = ${tcp}, websocket = ${websocket}, tcp_replica = ${between} }`;
    return `[[cluster.nodes]]\nname = "n${at}"\nip = "127.0.0.1"\nreplica_id = ${at}\nports = ${listed}\n`;
  });
  return `[cluster]\nenabled = true\nname = "client"\n${nodes.join("")}`;
}

/** All are held at once, so that they differ. */
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

test("ports that were free differ", async () => {
  assert.equal(new Set(await freePorts(9)).size, 9);
});
