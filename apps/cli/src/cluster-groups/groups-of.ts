import type { ClusterGroups, ClusterNode, GroupStanding } from "@millrace/client";
import type { Observer } from "../connection/client.ts";
import { type Leading, leadingOf } from "./leading.ts";

/** Partitions asked for at once. */
const PAGE = 1000;
/** Committed ops that a node may lack of one group while it keeps up: more are never on their way. */
const LAG_MAX = 127;

/** Where one node stands in one group. */
export interface NodeInGroup {
  readonly node: string;
  /** Nothing of a node that did not answer, or does not know the group. */
  readonly standing: GroupStanding | undefined;
  readonly leads: boolean;
  /** Committed ops that it lacks, as far as the nodes that answered know; nothing when it did not. */
  readonly lag: number | undefined;
}

/** A partition by its ids, and the nodes in it. */
export interface PartitionInCluster {
  readonly partition: string;
  readonly nodes: readonly NodeInGroup[];
}

/** What one node comes to over all partitions. */
export interface PartitionTotals {
  readonly node: string;
  /** False of a node that did not answer: nothing is known of it but who leads in its place. */
  readonly isTold: boolean;
  /** Partitions that it told of. */
  readonly partitionsCount: number;
  readonly leadsCount: number;
  /** Partitions that it did not tell of, or in whose view it does not take part. */
  readonly outCount: number;
  /** Over all partitions; nothing when it did not tell of each. */
  readonly lag: number | undefined;
}

/** How far a node keeps up with its groups; nothing is known of one that did not answer. */
export type Keeping = "up" | "behind" | "unknown";

/** Partitions by what is known of their leader, see `Leading`. */
export type LeadingCounts = Readonly<Record<Leading, number>>;

/** All groups of a cluster. */
export interface GroupsOfCluster {
  readonly metadata: readonly NodeInGroup[];
  readonly totals: readonly PartitionTotals[];
  /** The first ones, as many as were wanted. */
  readonly partitions: readonly PartitionInCluster[];
  readonly partitionsCount: number;
  readonly leading: LeadingCounts;
  /** By replica id. */
  readonly keeping: readonly Keeping[];
}

/** Which partitions count, and how many are told one by one. */
export interface WantedGroups {
  readonly stream: number | string | undefined;
  readonly topic: number | string | undefined;
  readonly limit: number;
}

/** Asks for all groups, page by page. @param nodes  of the roster, by replica id */
export async function groupsOf(
  client: Observer,
  nodes: readonly Pick<ClusterNode, "name" | "status">[],
  { stream, topic, limit }: WantedGroups,
): Promise<GroupsOfCluster> {
  const names = nodes.map(({ name }) => name);
  const totals = names.map((node) => newTotal(node));
  const partitions: PartitionInCluster[] = [];
  const behind = new Set<string>();
  let partitionsCount = 0;
  const leading = { led: 0, leaderless: 0, unknown: 0 };
  let page: ClusterGroups;
  let after: ClusterGroups["next"];
  do {
    page = await client.getClusterGroups({ after, countMax: PAGE, stream, topic });
    const isOwing = nodes.map(
      ({ status }, at) => status === "healthy" && page.nodes[at]?.metadata === undefined,
    );
    for (const group of page.partitions) {
      const inGroup = nodesIn(names, group.standings);
      for (const [at, one] of inGroup.entries()) addTo(totals[at], one);
      for (const one of inGroup) if (isBehind(one)) behind.add(one.node);
      leading[leadingOf(inGroup, isOwing)] += 1;
      const { streamId, topicId, partitionId } = group;
      if (partitions.length < limit)
        partitions.push({ partition: `${streamId}/${topicId}/${partitionId}`, nodes: inGroup });
    }
    partitionsCount += page.partitions.length;
    after = page.next;
  } while (after !== undefined);
  const metadata = nodesIn(
    names,
    page.nodes.map((node) => node.metadata),
  );
  for (const [at, total] of totals.entries()) {
    total.isTold = metadata[at]?.standing !== undefined || total.partitionsCount > 0;
    if (!total.isTold) total.lag = undefined;
  }
  for (const one of metadata) if (isBehind(one)) behind.add(one.node);
  const keeping = page.nodes.map((_, at): Keeping => {
    const total = totals[at];
    if (total?.isTold !== true) return "unknown";
    return behind.has(total.node) ? "behind" : "up";
  });
  return { metadata, totals, partitions, partitionsCount, leading, keeping };
}

type Total = { -readonly [Key in keyof PartitionTotals]: PartitionTotals[Key] };

function newTotal(node: string): Total {
  return { node, isTold: false, partitionsCount: 0, leadsCount: 0, outCount: 0, lag: 0 };
}

function addTo(total: Total | undefined, { standing, leads, lag }: NodeInGroup): void {
  if (total === undefined) return;
  if (standing !== undefined || leads) total.partitionsCount += 1;
  if (leads) total.leadsCount += 1;
  if (standing?.status !== "normal" && !leads) total.outCount += 1;
  total.lag = lag === undefined || total.lag === undefined ? undefined : total.lag + lag;
}

/** It does not know the log of the view yet, cannot write it, or lacks more of it than is ever on its way. */
function isBehind({ standing, lag }: NodeInGroup): boolean {
  const isOut = standing?.status === "recovering" || standing?.status === "silent";
  return isOut || (lag !== undefined && lag > LAG_MAX);
}

/**
 * The primary of a view is the node with the number of the view, modulo the count of nodes. A server that
 * stands alone leads whatever is there, also where another of its shards knows the numbers.
 */
function nodesIn(
  names: readonly string[],
  standings: readonly (GroupStanding | undefined)[],
): readonly NodeInGroup[] {
  const told = standings.filter((one) => one !== undefined);
  const view = Math.max(...told.filter(({ status }) => status === "normal").map((one) => one.view));
  const commit = Math.max(...told.map((one) => one.commit));
  return names.map((node, at) => {
    const standing = standings[at];
    if (names.length === 1) return { node, standing, leads: standing?.status !== "silent", lag: 0 };
    const isThere = standing?.status === "normal" && standing.view === view;
    const lag = standing && commit - standing.commit;
    return { node, standing, leads: isThere && view % names.length === at, lag };
  });
}
