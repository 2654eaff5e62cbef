/** Listeners of a node, by their names in its roster; `tcp_replica` is the one between the nodes. */
export type NodeListener = "tcp" | "websocket" | "http" | "tcp_replica";

/** Ports of one node, all on loopback. Clients are told of those that stand here. */
export type NodePorts = Readonly<Partial<Record<NodeListener, number>>>;

/** What the nodes of a cluster are told of each other. */
export interface ClusterConfig {
  readonly name: string;
  /** Ports of each node; its place is its replica id and its name is `n` and that. */
  readonly ports: readonly NodePorts[];
  /** Secret of the replicas, at least 32 bytes; without it they trust each other. */
  readonly secret?: string;
}

/** The file for a server's `--config`, in TOML. */
export function clusterConfig({ name, ports, secret }: ClusterConfig): string {
  const auth = secret === undefined ? "" : `[cluster.auth]\nenabled = true\nshared_secret = "${secret}"\n`;
  return `[cluster]\nenabled = true\nname = "${name}"\n${auth}${ports.map(rosterEntry).join("")}`;
}

function rosterEntry(ports: NodePorts, replica: number): string {
  const listed = Object.entries(ports).map(([listener, port]) => `${listener} = ${port}`);
  return `[[cluster.nodes]]
name = "n${replica}"
ip = "127.0.0.1"
replica_id = ${replica}
ports = { ${listed.join(", ")} }
`;
}
