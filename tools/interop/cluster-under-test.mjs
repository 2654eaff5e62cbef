import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MillraceClient } from "@millrace/client";
import { ServerUnderTest } from "./server-under-test.mjs";

const nodeNumbers = [0, 1, 2];
const transports = ["tcp", "websocket", "http", "tcp_replica"];
/** A cluster of empty folders forms when all of its nodes have met; an election takes some seconds. */
const leaderTimeoutMs = 30_000;
const askMs = 100;
/**
 * Members of groups whose node died are removed 1.2 intervals later, by default after 36 s. Official clients are
 * heard every 5 s.
 */
const heartbeat = { MILLRACE_HEARTBEAT_INTERVAL: "10s" };

/**
 * The judge that `prepare` brings, against a cluster of three nodes. It is told so in JUDGE_CLUSTER and gets
 * the addresses of a node that does not lead.
 */
export function inCluster(prepare) {
  return async () => {
    const program = await prepare();
    return { ...program, env: { ...program.env, JUDGE_CLUSTER: "1" }, isClustered: true };
  };
}

/**
 * Three built servers that are a cluster, each as its own process. A judge may have the leader killed
 * (`kill-leader`, then it reads `killed`), and whoever was killed started again (`start-killed`, `running`).
 */
export class ClusterUnderTest {
  #folder = mkdtempSync(join(tmpdir(), "millrace-interop-cluster-"));
  #environment;
  #nodes = [];
  #killed = new Set();

  /** @param environment  settings of every node beside its addresses */
  constructor(environment = {}) {
    this.#environment = { ...heartbeat, ...environment };
  }

  orders = {
    "kill-leader": async () => {
      const leader = await this.#leader();
      await this.#nodes[leader].kill();
      this.#killed.add(leader);
      return "killed";
    },
    "start-killed": async () => {
      await Promise.all([...this.#killed].map((at) => this.#nodes[at].start()));
      this.#killed.clear();
      return "running";
    },
  };

  /** Starts all three and waits until one of them leads. */
  async start() {
    const ports = await freePorts();
    const config = join(this.#folder, "cluster.toml");
    writeFileSync(config, rosterOf(ports));
    this.#nodes = nodeNumbers.map((at) => {
      const node = new ServerUnderTest(this.#environment, ["--config", config, "--replica-id", String(at)]);
      node.address = `127.0.0.1:${ports[at].tcp}`;
      node.webSocketAddress = `127.0.0.1:${ports[at].websocket}`;
      node.httpAddress = `127.0.0.1:${ports[at].http}`;
      return node;
    });
    await Promise.all(this.#nodes.map((node) => node.start()));
    const leader = await this.#leader();
    const follower = this.#nodes[(leader + 1) % this.#nodes.length];
    this.address = follower.address;
    this.webSocketAddress = follower.webSocketAddress;
    this.httpAddress = follower.httpAddress;
  }

  /** Asks those that run to stop; says how they ended, `exit code 0` when all did so in order. */
  async stop() {
    const running = this.#nodes.filter((_, at) => !this.#killed.has(at));
    const endings = await Promise.all(running.map((node) => node.stop()));
    return endings.find((ending) => ending !== "exit code 0") ?? "exit code 0";
  }

  /** Ends the processes whatever their state. The folders stay, named, when something failed. */
  end(keepFolders) {
    for (const node of this.#nodes) node.end(keepFolders);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Number of the node that leads the cluster now. */
  async #leader() {
    const living = this.#nodes.filter((_, at) => !this.#killed.has(at)).map(({ address }) => address);
    for (const endMs = Date.now() + leaderTimeoutMs; ; await sleep(askMs)) {
      try {
        const client = await MillraceClient.connect({ address: living, username: "iggy", password: "iggy" });
        await client.close();
        return this.#nodes.findIndex(({ address }) => address === client.address);
      } catch (error) {
        if (Date.now() > endMs) throw new Error(`nobody leads the cluster: ${error.message}`);
      }
    }
  }
}

function rosterOf(ports) {
  const nodes = nodeNumbers.map((at) => {
    const listed = transports.map((name) => `${name} = ${ports[at][name]}`).join(", ");
    return `[[cluster.nodes]]\nname = "n${at}"\nip = "127.0.0.1"\nreplica_id = ${at}\nports = { ${listed} }\n`;
  });
  return `[cluster]\nenabled = true\nname = "interop"\n${nodes.join("")}`;
}

/** For each node a port for each transport, free a moment ago: all are held at once, so that they differ. */
async function freePorts() {
  const held = await Promise.all(nodeNumbers.flatMap(() => transports.map(hold)));
  const ports = held.map((server) => server.address().port);
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  const portOf = (at, index) => ports[at * transports.length + index];
  return nodeNumbers.map((at) =>
    Object.fromEntries(transports.map((name, index) => [name, portOf(at, index)])),
  );
}

function hold() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}
