import { type Field, type Result, rows } from "../output/result.ts";
import type { GroupsOfCluster, NodeInGroup, PartitionTotals } from "./groups-of.ts";

type Row = NodeInGroup & { readonly partition?: string };

const STANDING_FIELDS: readonly Field<Row>[] = [
  { name: "node", title: "Node", value: ({ node }) => node },
  { name: "role", title: "Role", value: roleOf },
  { name: "view", title: "View", value: ({ standing }) => standing?.view ?? null },
  { name: "op", title: "Op", value: ({ standing }) => standing?.op ?? null },
  { name: "commit", title: "Commit", value: ({ standing }) => standing?.commit ?? null },
  { name: "lag", title: "Lag", value: ({ lag }) => lag ?? null },
];

const PARTITION_FIELDS: readonly Field<Row>[] = [
  { name: "partition", title: "Partition", value: ({ partition }) => partition ?? null },
  ...STANDING_FIELDS,
];

const TOTAL_FIELDS: readonly Field<PartitionTotals>[] = [
  { name: "node", title: "Node", value: ({ node }) => node },
  totalField("partitions_count", "Partitions", (total) => (total.isTold ? total.partitionsCount : undefined)),
  totalField("leads_count", "Leads", (total) => (total.isTold ? total.leadsCount : undefined)),
  totalField("out_count", "Not taking part", ({ outCount }) => outCount),
  totalField("lag", "Lag", ({ lag }) => lag),
];

/** A count that may not be known. */
function totalField(
  name: string,
  title: string,
  count: (total: PartitionTotals) => number | undefined,
): Field<PartitionTotals> {
  const value = (total: PartitionTotals) => count(total) ?? null;
  return { name, title, value, text: (total) => String(count(total) ?? "unknown") };
}

/** How the groups of a cluster are shown, as members of a larger answer. */
export function groupsResult(
  groups: GroupsOfCluster,
  { withPartitions }: { readonly withPartitions: boolean },
): Readonly<Record<string, Result>> {
  const shown = {
    metadata: titled("Metadata", rows(STANDING_FIELDS, groups.metadata, "Nobody tells.")),
    partition_totals: titled("All partitions", rows(TOTAL_FIELDS, groups.totals, "Nobody tells.")),
  };
  return withPartitions ? { ...shown, partitions: partitionsResult(groups) } : shown;
}

function partitionsResult({ partitions, partitionsCount }: GroupsOfCluster): Result {
  const each = partitions.flatMap(({ partition, nodes }) => nodes.map((node) => ({ ...node, partition })));
  const title =
    partitions.length < partitionsCount
      ? `The first ${partitions.length} of ${partitionsCount} partitions; --limit shows more`
      : "Partitions (stream/topic/partition)";
  return titled(title, rows(PARTITION_FIELDS, each, "There are no partitions."));
}

function titled(text: string, result: Result): Result {
  return { ...result, parts: [{ kind: "sentence", text: `${text}:` }, ...result.parts] };
}

function roleOf({ standing, leads }: NodeInGroup): string {
  if (leads) return "leads";
  if (standing === undefined) return "unknown";
  return standing.status === "normal" ? "follows" : standing.status;
}
