import { ReplicaCommand } from "@millrace/framing";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import type { TestClient } from "./test-client.ts";
import { TestCluster, type TestClusterOptions } from "./test-cluster.ts";
import { createSmallTopic } from "./test-topics.ts";

/** Three nodes with stream 0 and topic 0, and a client on the one that is primary of everything. */
export interface SmallCluster {
  readonly cluster: TestCluster;
  readonly primary: number;
  readonly client: TestClient;
  readonly backups: readonly [number, number];
  /** Partition 0 on each node. */
  readonly groups: readonly PartitionGroup[];
}

/** Starts one. */
export async function smallCluster(
  partitionsCount = 1,
  options: TestClusterOptions = {},
): Promise<SmallCluster> {
  const cluster = await TestCluster.start(3, options);
  const primary = await cluster.metadataPrimary();
  const client = await cluster.login(primary);
  await cluster.drive(createSmallTopic(client, {}, partitionsCount));
  const [one, other] = [0, 1, 2].filter((at) => at !== primary) as [number, number];
  const groups = await groupsOf(cluster);
  return { cluster, primary, client, backups: [one, other], groups };
}

/** Partition 0 on each of these nodes. */
export function groupsOf(cluster: TestCluster, nodes: readonly number[] = [0, 1, 2]) {
  return Promise.all(nodes.map((at) => cluster.group(at, 0)));
}

/** The node of these that numbers the operations of partition 0, once there is one, with a client on it. */
export async function newWriter(
  cluster: TestCluster,
  nodes: readonly number[],
  options: { readonly client?: bigint; readonly sdkName?: string } = {},
): Promise<{ readonly at: number; readonly group: PartitionGroup; readonly client: TestClient }> {
  const groups = await groupsOf(cluster, nodes);
  const index = await cluster.until(() => {
    const found = groups.findIndex(({ isPrimary }) => isPrimary);
    return found < 0 ? undefined : String(found);
  });
  const at = nodes[Number(index)] ?? 0;
  const client = await cluster.login(at, options.client ?? 50n, options.sdkName);
  return { at, group: await cluster.group(at, 0), client };
}

/** A prepareOk of a partition's group, see docs/spec/replica-messages.md. */
export function isPartitionsAck({ bytes }: { readonly bytes: Uint8Array }): boolean {
  return bytes[60] === ReplicaCommand.prepareOk && isPartitions({ bytes });
}

/** Any message of a partition's group. */
export function isPartitions({ bytes }: { readonly bytes: Uint8Array }): boolean {
  return bytes[140] === 2;
}
