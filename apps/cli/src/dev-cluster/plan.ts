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
