import { setTimeout as sleep } from "node:timers/promises";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { ServerChild, ServerEnd, World } from "../world.ts";
import type { DevNode } from "./plan.ts";

/** A server that does not stop in order within this time is killed; its own limit is shorter. */
const STOP_MS = 60_000;

/** Variables that every node needs alike, whoever of them makes the root user. */
const SHARED_VARIABLES = /^(MILLRACE|IGGY)_ROOT_(USERNAME|PASSWORD)$/;
/** Other settings by variable would count for all nodes, in place of what their files say. */
const SETTINGS = /^(MILLRACE|IGGY)_/;

/** What is told of nodes while they run. */
export interface NodeEvents {
  readonly onEnd: (node: DevNode, end: ServerEnd, restartMs: number) => void;
  readonly onBack: (node: DevNode, pid: number) => void;
  /** A node that was started again and ended before it served; it stays down. */
  readonly onLost: (node: DevNode, words: string) => void;
}

/** What nodes are started with. */
export interface DevNodesOptions {
  readonly world: Pick<World, "startServer" | "environment">;
  readonly nodes: readonly DevNode[];
  /** How long a node that ended by itself stays down. */
  readonly restartMs: number;
  readonly events: NodeEvents;
}

/** The servers of a cluster on this machine. One that ends without being asked to is started again. */
export class DevNodes {
  readonly #options: DevNodesOptions;
  readonly #children = new Map<DevNode, ServerChild>();
  readonly #stopping = new AbortController();
  readonly #watches: Promise<void>[] = [];

  constructor(options: DevNodesOptions) {
    this.#options = options;
  }

  /**
   * Starts all and waits until they serve, or until they are stopped.
   * @throws CodedError InvalidConfiguration with what a server said that ended instead
   */
  async start(): Promise<void> {
    const started = this.#options.nodes.map((node) => [node, this.#spawn(node)] as const);
    const ready = started.map(async ([node, child]) => {
      if ((await child.ready) || this.#stopping.signal.aborted) return;
      throw notStarted(node, child);
    });
    await Promise.all(ready);
    for (const [node, child] of started) this.#watches.push(this.#watch(node, child));
  }

  /** Nodes whose processes run. */
  running(): readonly DevNode[] {
    return [...this.#children.keys()];
  }

  pidOf(node: DevNode): number | undefined {
    return this.#children.get(node)?.pid;
  }

  /** Asks all to stop and answers how each ended. */
  async stop(): Promise<readonly ServerEnd[]> {
    this.#stopping.abort();
    const children = [...this.#children.values()];
    for (const child of children) child.signal("SIGTERM");
    const cutOff = setTimeout(() => this.kill(), STOP_MS);
    const ends = await Promise.all(children.map((child) => child.ended));
    clearTimeout(cutOff);
    await Promise.all(this.#watches);
    return ends;
  }

  /** Ends all at once, as a loss of power would. */
  kill(): void {
    for (const child of this.#children.values()) child.signal("SIGKILL");
  }

  #spawn(node: DevNode): ServerChild {
    const { world } = this.#options;
    const child = world.startServer({
      arguments: serverArguments(node),
      environment: environmentOf(world.environment),
    });
    this.#children.set(node, child);
    void child.ended.then(() => {
      if (this.#children.get(node) === child) this.#children.delete(node);
    });
    return child;
  }

  /** Starts a node again each time it ends, until all are to stop. */
  async #watch(node: DevNode, first: ServerChild): Promise<void> {
    const { events, restartMs } = this.#options;
    const { signal } = this.#stopping;
    for (let child = first; ; ) {
      const end = await child.ended;
      if (signal.aborted) return;
      events.onEnd(node, end, restartMs);
      await sleep(restartMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      child = this.#spawn(node);
      const serves = await child.ready;
      if (signal.aborted) return;
      if (!serves) return events.onLost(node, child.lastWords());
      events.onBack(node, child.pid);
    }
  }
}

/** How a node is started; a person can do so too while it is down. */
export function serverArguments(node: DevNode): string[] {
  const { config, replica } = node;
  return ["--config", config, "--replica-id", String(replica), "--with-default-root-credentials"];
}

function environmentOf(own: World["environment"]): Record<string, string | undefined> {
  const entries = Object.entries(own).filter(([name]) => SHARED_VARIABLES.test(name) || !SETTINGS.test(name));
  return Object.fromEntries(entries);
}

function notStarted(node: DevNode, child: ServerChild): CodedError {
  const message = `Node ${node.name} did not start. It said: ${child.lastWords()}`;
  return new CodedError(ErrorCode.InvalidConfiguration, message, { details: { node: node.name } });
}
