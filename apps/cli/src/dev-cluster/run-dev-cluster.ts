import { ExitCode } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";
import { type Field, rows } from "../output/result.ts";
import type { World } from "../world.ts";
import { DevNodes, type NodeEvents } from "./dev-nodes.ts";
import { type ClusterFolder, openFolder, writeConfigs } from "./folder.ts";
import { freePorts } from "./free-ports.ts";
import { untilLogin, watchLeader } from "./leader-watch.ts";
import { type DevNode, HOST, planNodes, wantedPorts } from "./plan.ts";
import { thingsToTry } from "./things-to-try.ts";

/** What is asked of a cluster on this machine. */
export interface DevClusterOptions {
  readonly nodesCount: number;
  /** TCP port of the first node; the others' follow. 0 takes any. */
  readonly firstPort: number;
  /** Folder to keep the data in; one for this run when there is none. */
  readonly data: string | undefined;
  /** Whether the folder of this run stays. */
  readonly keep: boolean;
  /** How long a node stays down that ended by itself. */
  readonly restartMs: number;
}

/** Where a cluster runs, and who is told of it. */
export interface DevClusterParts {
  readonly world: World;
  readonly output: Output;
}

/** How long the addresses wait for the first leader. */
const FIRST_LEADER_MS = 20_000;

/**
 * Starts the nodes, prints their addresses, says who leads and which node ends and comes back, until this
 * process is asked to stop; then it stops all nodes in order. Asked a second time it kills them.
 *
 * @returns `ok` when every node that still ran exited with 0
 * @throws CodedError InvalidConfiguration when a node does not start
 */
export async function runDevCluster(parts: DevClusterParts, options: DevClusterOptions): Promise<ExitCode> {
  const { world, output } = parts;
  const folder = openFolder(options.data, options.keep, options.nodesCount);
  const wanted = wantedPorts(options.firstPort, options.nodesCount);
  const ports = await freePorts(wanted, HOST);
  sayTaken(output, wanted, ports);
  const nodes = planNodes(folder.path, ports);
  writeConfigs(nodes);
  const servers = new DevNodes({ world, nodes, restartMs: options.restartMs, events: eventsOn(output) });
  const stop = stopOf(world, servers);
  let ends: readonly unknown[] = [];
  try {
    const started = servers.start();
    await Promise.race([started, stop.asked]);
    if (!stop.signal.aborted) await follow(parts, { servers, nodes, signal: stop.signal, folder });
  } finally {
    ends = await servers.stop();
    stop.release();
    folder.release();
  }
  output.line(folder.isKept ? `Stopped. The data is in ${folder.path}` : "Stopped; the data is removed.");
  return ends.every((end) => end === 0) ? ExitCode.ok : ExitCode.failed;
}

/** Says which of the wanted ports others have, and what was taken in their place. */
function sayTaken(output: Output, wanted: readonly number[], ports: readonly number[]): void {
  const others = wanted.flatMap((port, at) =>
    port === 0 || port === ports[at] ? [] : [`${ports[at]} in place of ${port}`],
  );
  if (others.length > 0) output.remark(`Some ports are taken; this cluster uses ${others.join(", ")}.`);
}

interface Running {
  readonly servers: DevNodes;
  readonly nodes: readonly DevNode[];
  readonly folder: ClusterFolder;
  readonly signal: AbortSignal;
}

/** Shows the nodes once one leads, or nobody does for long, and afterwards whoever leads next. */
async function follow({ world, output }: DevClusterParts, running: Running): Promise<void> {
  const { servers, nodes, signal } = running;
  let isShown = false;
  const show = (leader: string | undefined) => {
    if (isShown) return false;
    isShown = true;
    const fields = fieldsOf(servers, leader);
    const { parts } = rows(fields.slice(0, SHOWN_FIELDS), nodes, "");
    output.show({ json: rows(fields, nodes, "").json, parts });
    const { environment } = world;
    const atHand = { ...running, leader, environment, pidOf: (node: DevNode) => servers.pidOf(node) };
    for (const line of thingsToTry(atHand)) output.line(line);
    return true;
  };
  const timer = setTimeout(() => show(undefined), FIRST_LEADER_MS);
  const asking = { world, signal, credentials: credentialsOf(world.environment) };
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(FIRST_LEADER_MS)]);
  await Promise.all(nodes.map((node) => untilLogin({ ...asking, signal: timeout }, node)));
  await watchLeader({
    ...asking,
    running: () => servers.running(),
    onLeader: (name) => {
      if (!show(name)) output.line(`${name} leads now`);
    },
    onTrouble: (error) => output.remark(`Nobody says who leads: ${(error as Error).message}`),
  });
  clearTimeout(timer);
}

/** A terminal has no room for the others, which programs get. */
const SHOWN_FIELDS = 6;

function stopOf(world: World, servers: DevNodes) {
  const stop = new AbortController();
  const asked = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
  const release = world.onStop(() => {
    if (stop.signal.aborted) servers.kill();
    stop.abort();
  });
  return { signal: stop.signal, asked, release };
}

function fieldsOf(servers: DevNodes, leader: string | undefined): readonly Field<DevNode>[] {
  const port = (name: "tcp" | "http" | "websocket" | "replica", title: string): Field<DevNode> => ({
    ...{ name: `${name}_address`, title },
    value: ({ ports }) => `${HOST}:${ports[name]}`,
  });
  return [
    { name: "name", title: "Node", value: (node) => node.name },
    { name: "role", title: "Role", value: (node) => (node.name === leader ? "leader" : "follower") },
    { name: "pid", title: "PID", value: (node) => servers.pidOf(node) ?? null },
    port("tcp", "TCP"),
    port("http", "HTTP"),
    port("websocket", "WebSocket"),
    port("replica", "Between nodes"),
    { name: "data", title: "Data", value: (node) => node.data },
  ];
}

function eventsOn(output: Output): NodeEvents {
  return {
    onEnd: ({ name }, end, restartMs) => {
      const how = typeof end === "number" ? `with code ${end}` : `by ${end}`;
      output.line(`${name} ended ${how}; it is started again in ${restartMs / 1000} s`);
    },
    onBack: ({ name }, pid) => output.line(`${name} is back, process ${pid}`),
    onLost: ({ name }, words) => output.remark(`${name} did not start again and stays down: ${words}`),
  };
}

/** The root user of a cluster that was started without saying whom. */
function credentialsOf(environment: World["environment"]) {
  const variable = (name: string) => environment[`MILLRACE_ROOT_${name}`] ?? environment[`IGGY_ROOT_${name}`];
  return { username: variable("USERNAME") ?? "iggy", password: variable("PASSWORD") ?? "iggy" };
}
