import type { ClusterMetadata, ClusterNode } from "@millrace/client";
import { ErrorCode, isCodedError } from "@millrace/errors";
import {
  type GroupsOfCluster,
  groupsOf,
  type Keeping,
  type LeadingCounts,
} from "../../cluster-groups/groups-of.ts";
import { groupsResult } from "../../cluster-groups/groups-result.ts";
import { quorums } from "../../cluster-groups/quorums.ts";
import type { Client, Observer } from "../../connection/client.ts";
import { ExitCode } from "../../exit-codes.ts";
import { UsageError } from "../../failures/usage-error.ts";
import { parseIdOrName } from "../../formats/id-or-name.ts";
import { parseU32 } from "../../formats/whole-number.ts";
import { type Field, properties, type Result, rows, sentence } from "../../output/result.ts";
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
  /** Partitions by whether somebody leads them; nothing where the server does not tell. */
  readonly leading: LeadingCounts | undefined;
}

/** A node as a person is told of it. */
type ShownNode = Omit<ClusterNode, "status"> & {
  readonly status: ClusterNode["status"] | "catching up" | "no answer";
};

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
  {
    name: "partitions_without_leader",
    title: "Partitions without leader",
    value: ({ leading }) => leading?.leaderless ?? null,
    text: ({ leading }) => String(leading?.leaderless ?? "unknown"),
  },
  {
    name: "partitions_leader_unknown",
    title: "Partitions whose leader did not answer",
    value: ({ leading }) => leading?.unknown ?? null,
    text: ({ leading }) => String(leading?.unknown ?? "unknown"),
  },
];

const NODE_FIELDS: readonly Field<ShownNode>[] = [
  { name: "name", title: "Node", value: ({ name }) => name },
  { name: "address", title: "TCP", value: ({ ip, tcpPort }) => `${ip}:${tcpPort}` },
  { name: "role", title: "Role", value: ({ role }) => role },
  { name: "status", title: "Status", value: ({ status }) => status },
];

interface Typed {
  readonly partitions?: true;
  readonly stream?: number | string;
  readonly topic?: number | string;
  readonly limit: number;
}

/** Partitions that are told one by one when nobody says how many. */
const LIMIT_DEFAULT = 20;

/** Codes of servers that do not tell where groups stand, or not to this user, or not over this transport. */
const UNTOLD: ReadonlySet<number> = new Set([
  ErrorCode.InvalidCommand,
  ErrorCode.FeatureUnavailable,
  ErrorCode.Unauthorized,
]);

/** `millrace cluster status`; ends with 1 when the cluster, or a partition looked at, takes no writes. */
export const addClusterStatus: AddCommand = (parent, run) => {
  const summary =
    "say who leads what, who is behind, and whether all takes writes; ends with 1 if something does not";
  leaf(parent, { name: "status", alias: "s", summary })
    .option("-p, --partitions", "one row for each node of each partition")
    .option("--stream <stream>", "only partitions of this stream, by id or name", parseIdOrName)
    .option("--topic <topic>", "only partitions of this topic, by id or name", parseIdOrName)
    .option("--limit <n>", "partitions to show one by one", parseU32, LIMIT_DEFAULT)
    .action(
      run(async ({ client: connect, observer, output }, typed: Typed) => {
        if (typed.topic !== undefined && typed.stream === undefined) {
          throw new UsageError("--topic needs --stream: which stream the topic is in.");
        }
        const { through: client, cluster } = await seenCluster(observer, connect);
        const groups = await toldGroups(client, cluster, typed);
        const shownNodes = cluster.nodes.map((node, at) => shownNode(node, groups.told?.keeping[at]));
        const standing = standingOf(cluster, shownNodes, groups.told?.leading);
        const nodes = rows(NODE_FIELDS, shownNodes, "It names no nodes.");
        output.show(properties(STANDING_FIELDS, standing, { nodes, ...groups.shown }));
        return standing.takesWrites && !standing.leading?.leaderless ? ExitCode.ok : ExitCode.failed;
      }),
    );
};

/**
 * Codes of servers, and of transports, that tell nothing without a login; and of a stored login that is over.
 */
const ASK_LOGGED_IN: ReadonlySet<number> = new Set([
  ErrorCode.InvalidCommand,
  ErrorCode.FeatureUnavailable,
  ErrorCode.Unauthenticated,
  ErrorCode.InvalidPersonalAccessToken,
]);

/** The roster, and through whom more can be asked: a login takes a majority of the nodes, this does not. */
async function seenCluster(
  observe: () => Promise<Observer>,
  connect: () => Promise<Client>,
): Promise<{ readonly through: Observer; readonly cluster: ClusterMetadata }> {
  try {
    const through = await observe();
    return { through, cluster: await through.getClusterMetadata() };
  } catch (error) {
    if (!isCodedError(error) || !ASK_LOGGED_IN.has(error.code)) throw error;
    const through = await connect();
    return { through, cluster: await through.getClusterMetadata() };
  }
}

/** Where each node stands in each group, if the server tells, and how that is shown. */
interface ToldGroups {
  readonly told?: GroupsOfCluster;
  readonly shown: Readonly<Record<string, Result>>;
}

/** Where each node stands in each group; of a server that does not tell, why. */
async function toldGroups(
  client: Observer,
  { nodes }: ClusterMetadata,
  { partitions, stream, topic, limit }: Typed,
): Promise<ToldGroups> {
  const withPartitions = partitions === true;
  try {
    const groups = await groupsOf(client, nodes, { stream, topic, limit: withPartitions ? limit : 0 });
    return { told: groups, shown: groupsResult(groups, { withPartitions }) };
  } catch (error) {
    if (!isCodedError(error) || !UNTOLD.has(error.code)) throw error;
    const text = `Views and lag are not shown: the server answers ${error.name}.`;
    return { shown: { metadata: { json: null, parts: sentence(text, null).parts } } };
  }
}

/** One that can be reached may lack what the others have, or say nothing. */
function shownNode(node: ClusterNode, keeping: Keeping | undefined): ShownNode {
  if (node.status !== "healthy" || keeping === undefined || keeping === "up") return node;
  return { ...node, status: keeping === "behind" ? "catching up" : "no answer" };
}

function standingOf(
  { name, nodes }: ClusterMetadata,
  shown: readonly ShownNode[],
  leading: LeadingCounts | undefined,
): Standing {
  const isHealthy = ({ status }: ShownNode) => status === "healthy";
  const reachedCount = nodes.filter(isHealthy).length;
  const healthyCount = shown.filter(isHealthy).length;
  const leader = nodes.find((node) => node.role === "leader" && isHealthy(node));
  const { write, elect } = quorums(nodes.length);
  const takesWrites = leader !== undefined && reachedCount >= write;
  const spareCount = takesWrites ? Math.max(0, healthyCount - elect) : 0;
  return { name, leader, nodesCount: nodes.length, healthyCount, takesWrites, spareCount, leading };
}

function leaderText({ leader }: Standing): string {
  return leader?.name ?? "nobody";
}
