import type { ClusterMetadata, ClusterNode } from "@millrace/protocol";
import { ExitCode } from "../../exit-codes.ts";
import { type Field, properties, type Result, rows } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

/** What the roster of a cluster comes to. */
interface Standing {
  readonly name: string;
  readonly leader: ClusterNode | undefined;
  readonly nodesCount: number;
  readonly healthyCount: number;
  readonly takesWrites: boolean;
  /** Nodes that may still be lost, the leader among them, before nothing can be written. */
  readonly spareCount: number;
}

const STANDING_FIELDS: readonly Field<Standing>[] = [
  { name: "name", title: "Cluster", value: ({ name }) => name },
  { name: "leader", title: "Leader", value: ({ leader }) => leader?.name ?? null, text: leaderText },
  { name: "nodes_count", title: "Nodes", value: ({ nodesCount }) => nodesCount },
  { name: "healthy_count", title: "Healthy", value: ({ healthyCount }) => healthyCount },
  {
    name: "takes_writes",
    title: "Takes writes",
    value: ({ takesWrites }) => takesWrites,
    text: ({ takesWrites }) => (takesWrites ? "yes" : "no"),
  },
  { name: "may_lose", title: "Nodes it may lose", value: ({ spareCount }) => spareCount },
];

const NODE_FIELDS: readonly Field<ClusterNode>[] = [
  { name: "name", title: "Node", value: ({ name }) => name },
  { name: "address", title: "TCP", value: ({ ip, tcpPort }) => `${ip}:${tcpPort}` },
  { name: "role", title: "Role", value: ({ role }) => role },
  { name: "status", title: "Status", value: ({ status }) => status },
];

/** `millrace cluster status`; ends with 1 when the cluster takes no writes. */
export const addClusterStatus: AddCommand = (parent, run) => {
  const summary = "say whether the cluster takes writes, who leads, and what it may lose; ends with 1 if not";
  leaf(parent, { name: "status", alias: "s", summary }).action(
    run(async ({ client, output }) => {
      const cluster = await (await client()).getClusterMetadata();
      const standing = standingOf(cluster);
      output.show(resultOf(standing, cluster.nodes));
      return standing.takesWrites ? ExitCode.ok : ExitCode.failed;
    }),
  );
};

function standingOf({ name, nodes }: ClusterMetadata): Standing {
  const healthyCount = nodes.filter(({ status }) => status === "healthy").length;
  const leader = nodes.find(({ role, status }) => role === "leader" && status === "healthy");
  const { write, elect } = quorums(nodes.length);
  const takesWrites = leader !== undefined && healthyCount >= write;
  const spareCount = takesWrites ? Math.max(0, healthyCount - elect) : 0;
  return { name, leader, nodesCount: nodes.length, healthyCount, takesWrites, spareCount };
}

/** How many nodes have to store a write, and how many elect a leader. @see server-semantics section 19 */
function quorums(nodesCount: number) {
  if (nodesCount === 2) return { write: 2, elect: 2 };
  const write = Math.min(Math.ceil(nodesCount / 2), 3);
  return { write, elect: nodesCount - write + 1 };
}

function leaderText({ leader }: Standing): string {
  return leader?.name ?? "nobody";
}

function resultOf(standing: Standing, nodes: readonly ClusterNode[]): Result {
  return properties(STANDING_FIELDS, standing, { nodes: rows(NODE_FIELDS, nodes, "It names no nodes.") });
}
