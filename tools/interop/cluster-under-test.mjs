import { setTimeout as sleep } from "node:timers/promises";
import { MillraceClient } from "@millrace/client";
import { NODES, ThreeNodes } from "@millrace/testkit";
import { ServerUnderTest } from "./server-under-test.mjs";

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
  #environment;
  #nodes;
  #killed = [];

  /** @param environment  settings of every node beside its addresses */
  constructor(environment = {}) {
    this.#environment = { ...heartbeat, ...environment };
  }

  orders = {
    "kill-leader": async () => {
      const leader = await this.#leader();
      await this.#nodes.kill(leader);
      this.#killed.push(leader);
      return "killed";
    },
    "start-killed": async () => {
      await Promise.all(this.#killed.splice(0).map((at) => this.#nodes.start(at)));
      return "running";
    },
  };

  /** Starts all three and waits until one of them leads. */
  async start() {
    this.#nodes = await ThreeNodes.prepare({
      name: "interop",
      listeners: ["websocket", "http"],
      makeNode: ({ args, ports }) => {
        const node = new ServerUnderTest(this.#environment, args);
        node.address = `127.0.0.1:${ports.tcp}`;
        node.webSocketAddress = `127.0.0.1:${ports.websocket}`;
        node.httpAddress = `127.0.0.1:${ports.http}`;
        return node;
      },
    });
    await this.#nodes.startAll();
    const leader = await this.#leader();
    const follower = this.#nodes.node((leader + 1) % NODES.length);
    this.address = follower.address;
    this.webSocketAddress = follower.webSocketAddress;
    this.httpAddress = follower.httpAddress;
  }

  /** Asks those that run to stop; says how they ended, `exit code 0` when all did so in order. */
  async stop() {
    const endings = await this.#nodes.endEach((node) => node.stop());
    return endings.find((ending) => ending !== "exit code 0") ?? "exit code 0";
  }

  /** Ends the processes whatever their state. The folders stay, named, when something failed. */
  end(keepFolders) {
    for (const at of NODES) this.#nodes?.node(at).end(keepFolders);
    this.#nodes?.removeFolder();
  }

  /** Number of the node that leads the cluster now. */
  async #leader() {
    const addressOf = (at) => this.#nodes.node(at).address;
    const address = this.#nodes.running.map(addressOf);
    for (const endMs = Date.now() + leaderTimeoutMs; ; await sleep(askMs)) {
      try {
        const client = await MillraceClient.connect({ address, username: "iggy", password: "iggy" });
        await client.close();
        return NODES.find((at) => addressOf(at) === client.address);
      } catch (error) {
        if (Date.now() > endMs) throw new Error(`nobody leads the cluster: ${error.message}`);
      }
    }
  }
}
