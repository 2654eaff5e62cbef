import { join } from "node:path";

/** Ports of one node, all of them on loopback. */
export interface NodePorts {
  readonly tcp: number;
  readonly http: number;
  readonly websocket: number;
  readonly replica: number;
}

/** One node of a cluster on this machine. */
export interface DevNode {
  readonly name: string;
  readonly replica: number;
  readonly ports: NodePorts;
  /** Folder of its data. */
  readonly data: string;
  /** Its configuration file. */
  readonly config: string;
}

/** Loopback only: the nodes trust whoever connects to the port between them. */
export const HOST = "127.0.0.1";

/** Ports that one node needs. */
export const PORTS_PER_NODE = 4;

/** TCP port of the first node when nobody says otherwise: that of a server. */
export const PORT_DEFAULT = 8090;

/** From one node's ports to the next one's. */
const PORT_STEP = 10;

/** How far the other ports of a node are from that for TCP: 3000, 8092 and 8190 for the first one. */
const HTTP_BELOW = 5090;
const WEBSOCKET_ABOVE = 2;
const REPLICA_ABOVE = 100;

/** A TCP port below this leaves no room for that of HTTP, one above none for the last node's. */
export const PORT_MIN = 6114;
export const PORT_MAX = 65_000;

/**
 * The ports that nodes should have, `PORTS_PER_NODE` each, by the TCP port of the first: 8090, 8100, 8110 and
 * so on. All 0, for any, when that is 0.
 */
export function wantedPorts(first: number, nodesCount: number): number[] {
  return Array.from({ length: nodesCount }, (_, at) => first + at * PORT_STEP).flatMap((tcp) =>
    first === 0 ? [0, 0, 0, 0] : [tcp, tcp - HTTP_BELOW, tcp + WEBSOCKET_ABOVE, tcp + REPLICA_ABOVE],
  );
}

/** Enough for trying out, small enough for several nodes on one laptop. */
const MEMORY = "256 MiB";

/**
 * The nodes `n0`, `n1` and so on, each with its data and its file below `folder`.
 * @param ports  free ports, `PORTS_PER_NODE` a node
 */
export function planNodes(folder: string, ports: readonly number[]): DevNode[] {
  return Array.from({ length: Math.floor(ports.length / PORTS_PER_NODE) }, (_, replica) => {
    const [tcp = 0, http = 0, websocket = 0, between = 0] = ports.slice(replica * PORTS_PER_NODE);
    const name = `n${replica}`;
    return {
      ...{ name, replica, data: join(folder, name), config: join(folder, `${name}.toml`) },
      ports: { tcp, http, websocket, replica: between },
    };
  });
}

/** The TOML file of one node: its own addresses, and the roster, which is the same on all of them. */
export function configText(node: DevNode, nodes: readonly DevNode[]): string {
  const { ports, replica, name } = node;
  return `# Node ${name} of a cluster on this machine; start it with --config and --replica-id ${replica}.
path = ${JSON.stringify(node.data)}

[tcp]
address = "${HOST}:${ports.tcp}"

[http]
address = "${HOST}:${ports.http}"

[websocket]
address = "${HOST}:${ports.websocket}"

[memory_pool]
size = "${MEMORY}"

[cluster]
enabled = true
name = "dev"
${nodes.map(rosterEntry).join("")}`;
}

function rosterEntry({ name, replica, ports: { tcp, http, websocket, replica: between } }: DevNode): string {
  return `
[[cluster.nodes]]
name = "${name}"
ip = "${HOST}"
replica_id = ${replica}
ports = { tcp = ${tcp}, http = ${http}, websocket = ${websocket}, tcp_replica = ${between} }
`;
}
