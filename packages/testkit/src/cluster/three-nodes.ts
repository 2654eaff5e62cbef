import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clusterConfig, type NodeListener, type NodePorts } from "./cluster-config.ts";
import { freePorts } from "./free-ports.ts";

/** Replica ids of the three. */
export const NODES = [0, 1, 2] as const;

/** Where one node runs. */
export interface NodePlace {
  readonly replica: number;
  readonly ports: NodePorts;
  /** Arguments that make a server this node: its configuration file and its replica id. */
  readonly args: readonly string[];
  /** A folder for its data, not made yet; it goes with the cluster. */
  readonly data: string;
}

/** A server process of any kind: a test's, a judge's or a measurement's. */
export interface NodeProcess {
  /** Starts it on the data it had; resolves when it serves. */
  start(): Promise<unknown>;
  /** Ends it as a crash would; resolves when it is gone. */
  kill(): Promise<unknown>;
}

/** What a cluster of three is made of. */
export interface ThreeNodesOptions<Node extends NodeProcess> {
  readonly name: string;
  /** Listeners that get a port and stand in the roster, beside those of TCP and between the nodes. */
  readonly listeners?: readonly NodeListener[];
  /** Folder that the one of the cluster is made in; by default the system's for temporary files. */
  readonly parent?: string | undefined;
  readonly makeNode: (place: NodePlace) => Node;
}

/**
 * Three server processes that are a cluster, on ports that were free a moment ago. Each can be killed and
 * started again; of which kind they are is up to whoever makes them.
 */
export class ThreeNodes<Node extends NodeProcess> {
  readonly #folder: string;
  readonly #ports: readonly NodePorts[];
  readonly #nodes: readonly Node[];
  readonly #running = new Set<number>();

  private constructor(ports: readonly NodePorts[], options: ThreeNodesOptions<Node>) {
    this.#ports = ports;
    this.#folder = mkdtempSync(join(options.parent ?? tmpdir(), "millrace-three-"));
    const config = join(this.#folder, "cluster.toml");
    writeFileSync(config, clusterConfig({ name: options.name, ports }));
    this.#nodes = NODES.map((replica) => {
      const args = ["--config", config, "--replica-id", String(replica)];
      return options.makeNode({ replica, ports: this.portsOf(replica), args, data: this.dataOf(replica) });
    });
  }

  /** Picks the ports, writes the configuration and makes the nodes; starts none. */
  static async prepare<Node extends NodeProcess>(
    options: ThreeNodesOptions<Node>,
  ): Promise<ThreeNodes<Node>> {
    const listeners: readonly NodeListener[] = ["tcp", ...(options.listeners ?? []), "tcp_replica"];
    const free = await freePorts(listeners.length * NODES.length);
    const ports = NODES.map((replica) =>
      Object.fromEntries(listeners.map((name, at) => [name, free[replica * listeners.length + at]])),
    );
    return new ThreeNodes(ports, options);
  }

  /** Replica ids of those that were started and not killed. */
  get running(): number[] {
    return [...this.#running];
  }

  /** Throws RangeError for a replica id that is none. */
  node(replica: number): Node {
    const node = this.#nodes[replica];
    if (node === undefined) throw new RangeError(`there is no node ${replica}`);
    return node;
  }

  portsOf(replica: number): NodePorts {
    return this.#ports[replica] ?? {};
  }

  /** Folder of a node's data, when it was made to use the one of its place. */
  dataOf(replica: number): string {
    return join(this.#folder, `n${replica}`);
  }

  /** Starts all and waits until each serves. */
  async startAll(): Promise<void> {
    await Promise.all(NODES.map((replica) => this.start(replica)));
  }

  /** Starts one that does not run. */
  async start(replica: number): Promise<void> {
    this.#running.add(replica);
    await this.node(replica).start();
  }

  /** `kill -9`. */
  async kill(replica: number): Promise<void> {
    this.#running.delete(replica);
    await this.node(replica).kill();
  }

  /** Ends those that run, one after the other, as `end` does it, and answers what it answered. */
  async endEach<T>(end: (node: Node) => Promise<T>): Promise<T[]> {
    const ends: T[] = [];
    for (const replica of this.running) {
      this.#running.delete(replica);
      ends.push(await end(this.node(replica)));
    }
    return ends;
  }

  /** Removes the configuration and whatever the nodes wrote beside it. */
  removeFolder(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
