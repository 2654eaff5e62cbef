import type { ClusterMetadata, ClusterNode } from "@millrace/client";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { groupsOf } from "../../cluster-groups/groups-of.ts";
import { groupsResult } from "../../cluster-groups/groups-result.ts";
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

/** `millrace cluster status`; ends with 1 when the cluster takes no writes. */
export const addClusterStatus: AddCommand = (parent, run) => {
  const summary =
    "say whether the cluster takes writes, who leads what, and who is behind; ends with 1 if it takes none";
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
        const standing = standingOf(cluster);
        const nodes = rows(NODE_FIELDS, cluster.nodes, "It names no nodes.");
        const groups = await shownGroups(client, cluster, typed);
        output.show(properties(STANDING_FIELDS, standing, { nodes, ...groups }));
        return standing.takesWrites ? ExitCode.ok : ExitCode.failed;
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

/** Where each node stands in each group; of a server that does not tell, why. */
async function shownGroups(
  client: Observer,
  { nodes }: ClusterMetadata,
  { partitions, stream, topic, limit }: Typed,
): Promise<Readonly<Record<string, Result>>> {
  const names = nodes.map(({ name }) => name);
  const withPartitions = partitions === true;
  try {
    const groups = await groupsOf(client, names, { stream, topic, limit: withPartitions ? limit : 0 });
    return groupsResult(groups, { withPartitions });
  } catch (error) {
    if (!isCodedError(error) || !UNTOLD.has(error.code)) throw error;
    const text = `Views and lag are not shown: the server answers ${error.name}.`;
    return { metadata: { json: null, parts: sentence(text, null).parts } };
  }
}

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
