import type { BlockPool, ChecksumKernel, KeyHash } from "@millrace/framing";
import type { Metadata } from "@millrace/metadata";
import type { Platform } from "@millrace/platform";
import type { ClusterMetadata } from "@millrace/protocol";
import type { BrokerConfig } from "./broker-config.ts";
import type { GroupStandings } from "./cluster/group-standings.ts";
import type { GroupPlane } from "./consumer-groups/group-plane.ts";
import type { MetadataPlane } from "./metadata-plane/metadata-plane.ts";
import type { BrokerMetrics } from "./metrics.ts";
import type { PartitionPlane } from "./partition-plane/partition-plane.ts";
import type { MessageCleaner } from "./retention/message-cleaner.ts";
import type { BalancedCounters } from "./routing/balanced-counters.ts";
import type { ConnectionRegistry } from "./sessions/connection-registry.ts";
import type { PasswordChecks } from "./sessions/password-checks.ts";
import type { SnapshotCollector } from "./start/snapshot-collector.ts";
import type { TokenDigest } from "./tokens/token-digest.ts";

/** Everything a command can work with: the parts of one broker. */
export interface Shard {
  readonly config: BrokerConfig;
  readonly platform: Platform;
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
  readonly keyHash: KeyHash;
  readonly catalog: Metadata;
  readonly metadata: MetadataPlane;
  readonly partitions: PartitionPlane;
  readonly groups: GroupPlane;
  readonly messageCleaner: MessageCleaner;
  readonly counters: BalancedCounters;
  readonly connections: ConnectionRegistry;
  readonly passwordChecks: PasswordChecks;
  readonly tokenDigest: TokenDigest;
  readonly metrics: BrokerMetrics;
  readonly roster: () => ClusterMetadata;
  /** Where the nodes of the cluster stand; absent on a server that stands alone. */
  readonly standings: GroupStandings | undefined;
  /** Collects facts for diagnostics; absent where nobody can. */
  readonly snapshots: SnapshotCollector | undefined;
  /** Micros since the epoch. */
  readonly startedAtMicros: number;
}
