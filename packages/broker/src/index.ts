/**
 * One shard of a Millrace server: sessions, both consensus planes, partitions, every command. No sockets.
 *
 * ```ts
 * import { BROKER_DEFAULTS, createBroker } from "@millrace/broker";
 *
 * const broker = await createBroker({ platform, kernel, pool, config: BROKER_DEFAULTS, roster, rootUser });
 * const listener = await listenTcp({ ..., onConnection: (connection) => broker.onConnection(connection) });
 * await listener.close();
 * await broker.stop({ drainMs: 10_000 });
 * ```
 *
 * @packageDocumentation
 */
export { Broker, createBroker } from "./broker.ts";
export { BROKER_DEFAULTS, type BrokerConfig } from "./broker-config.ts";
export type { BrokerOptions, RootUser } from "./broker-options.ts";
export type { ClusterOptions } from "./cluster/cluster-options.ts";
export { whyNoLogin } from "./cluster/why-no-login.ts";
export { type CatalogSource, readCatalog } from "./metadata-plane/read-catalog.ts";
export type { BrokerMetrics } from "./metrics.ts";
export { type FoundFolder, partitionFolders } from "./partition-plane/orphan-partitions.ts";
export type { PartitionHostOptions } from "./partition-plane/partition-host.ts";
export { partitionPath } from "./partition-plane/partition-path.ts";
export type { Shard } from "./shard.ts";
export { PartitionShard, servePartitions } from "./shards/partition-shard.ts";
export type { NodeIdentity } from "./start/node-identity.ts";
export type { CollectSnapshot } from "./start/snapshot-collector.ts";
