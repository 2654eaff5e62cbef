import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ClusterConfig, clusterConfig, freePorts, NODES } from "@millrace/testkit";
import { ServerProcess } from "../server/server-process.ts";
import { type CutKind, LinkProxy } from "./link-proxy.ts";

/** Secret of the replicas; at least 32 bytes. */
export const SECRET = "the secret that three nodes under torture share";
export const CLUSTER_NAME = "torture";

/** Memory of a node: three of them share a machine with their clients. */
const SETTINGS = { MILLRACE_MEMORY_POOL_SIZE: "128 MiB", MILLRACE_HTTP_ENABLED: "false" };

/** One node: its process and where it listens. */
export interface ClusterNode {
  readonly replica: number;
  readonly server: ServerProcess;
  readonly folder: string;
  readonly clientPort: number;
  readonly replicaPort: number;
  /** Stopped by SIGSTOP, or killed. */
  isAway: boolean;
}

/** The ways from each node to each other one: `[from][to]`. */
type Proxies = readonly (readonly (LinkProxy | undefined)[])[];

/** Three nodes as processes, each of which reaches the others through proxies that can be cut. */
export class ClusterNodes {
  readonly nodes: readonly ClusterNode[];
  readonly #proxies: Proxies;

  private constructor(nodes: readonly ClusterNode[], proxies: Proxies) {
    this.nodes = nodes;
    this.#proxies = proxies;
  }

  /** Picks ports and writes configurations; starts nothing yet. */
  static async prepare(entry: string, folder: string): Promise<ClusterNodes> {
    const free = await freePorts(2 * NODES.length);
    const [clientPorts, replicaPorts] = [free.slice(0, NODES.length), free.slice(NODES.length)];
    const proxies = await Promise.all(
      NODES.map((from) =>
        Promise.all(
          NODES.map((to) => (from === to ? undefined : LinkProxy.start(replicaPorts[to] as number))),
        ),
      ),
    );
    const nodes = NODES.map((at): ClusterNode => {
      const own = { clientPort: clientPorts[at] as number, replicaPort: replicaPorts[at] as number };
      const ports = NODES.map((to) => ({
        tcp: clientPorts[to] as number,
        tcp_replica: proxies[at]?.[to]?.port ?? own.replicaPort,
      }));
      const config = { name: CLUSTER_NAME, secret: SECRET, ports };
      const place = { entry, folder: join(folder, `node-${at}`), replica: at, clientPort: own.clientPort };
      return { ...own, ...place, server: nodeProcess({ ...place, config }), isAway: true };
    });
    return new ClusterNodes(nodes, proxies);
  }

  node(at: number): ClusterNode {
    const node = this.nodes[at];
    if (node === undefined) throw new RangeError(`there is no node ${at}`);
    return node;
  }

  /** Starts a node and waits for its banner. Throws Violation server. */
  async start(at: number): Promise<void> {
    const node = this.node(at);
    await node.server.start();
    node.isAway = false;
  }

  async startAll(): Promise<void> {
    await Promise.all(NODES.map((at) => this.start(at)));
  }

  /** `kill -9`. */
  async kill(at: number): Promise<void> {
    const node = this.node(at);
    node.isAway = true;
    await node.server.kill();
  }

  /** SIGSTOP: the process keeps its connections and says nothing. */
  pause(at: number): void {
    const node = this.node(at);
    node.isAway = true;
    process.kill(node.server.pid as number, "SIGSTOP");
  }

  /** SIGCONT. */
  resume(at: number): void {
    const node = this.node(at);
    process.kill(node.server.pid as number, "SIGCONT");
    node.isAway = false;
  }

  /** Moves the data directory of a node that does not run out of the way; it stays for a look. */
  wipe(at: number, round: number): void {
    const { folder } = this.node(at);
    renameSync(join(folder, "data"), join(folder, `data-before-${round}`));
  }

  /** Cuts both ways between two nodes. */
  cut(one: number, other: number, kind: CutKind): void {
    this.#proxies[one]?.[other]?.cut(kind);
    this.#proxies[other]?.[one]?.cut(kind);
  }

  /** Heals all links. */
  heal(): void {
    for (const proxy of this.#proxies.flat()) proxy?.heal();
  }

  /** Ends everything at once, in order to end this process. */
  killNow(): void {
    for (const { server } of this.nodes) server.killNow();
  }

  /** Kills the nodes and closes the proxies. */
  async close(): Promise<void> {
    await Promise.all(this.nodes.map(({ server }) => server.kill()));
    await Promise.all(this.#proxies.flat().map((proxy) => proxy?.close()));
  }
}

/** The process of one node, with its folder and its configuration made. */
export function nodeProcess(node: {
  readonly entry: string;
  readonly folder: string;
  readonly replica: number;
  readonly clientPort: number;
  /** The ports in it are those of each node as this one dials it, and its own as it listens. */
  readonly config: ClusterConfig;
}): ServerProcess {
  const { entry, folder, replica, clientPort: port } = node;
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "config.toml");
  writeFileSync(path, clusterConfig(node.config));
  const args = ["--config", path, "--replica-id", String(replica)];
  return new ServerProcess({ entry, folder, port, settings: SETTINGS, args });
}
