import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import type { Cipher, Platform, ShardBus } from "@millrace/platform";
import type { ClusterMetadata } from "@millrace/protocol";
import type { BrokerConfig } from "./broker-config.ts";
import type { ClusterOptions } from "./cluster/cluster-options.ts";
import type { NodeIdentity } from "./start/node-identity.ts";
import type { CollectSnapshot } from "./start/snapshot-collector.ts";

/** The root user a first start makes; a later start leaves users alone. */
export interface RootUser {
  readonly name: string;
  /** Stored form of the password, see `Passwords.hash`. */
  readonly passwordHash: string;
}

/** What a broker is made from. */
export interface BrokerOptions {
  readonly platform: Platform;
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
  readonly config: BrokerConfig;
  /** Encrypts messages in the data directory; absent, they are stored as they are sent. */
  readonly cipher?: Cipher | undefined;
  /** Which node of which cluster this is; left out, a server that stands alone. */
  readonly identity?: NodeIdentity;
  /**
   * The way to the process's other shards, which own a part of the partitions; left out, or with one shard,
   * all partitions are this one's. `kernel` and `pool` are over the memory that all of them share then.
   */
  readonly bus?: ShardBus;
  /** Makes the broker one replica of a cluster; left out, it is alone. Not together with several shards. */
  readonly cluster?: ClusterOptions | undefined;
  /** The nodes clients may connect to; asked for each GetClusterMetadata. */
  readonly roster: () => ClusterMetadata;
  /** Called when the catalog has no user yet; without it such a start fails. */
  readonly rootUser: () => Promise<RootUser>;
  /** Makes the ZIP file of a GetSnapshot; without it the command is unavailable. */
  readonly collectSnapshot?: CollectSnapshot;
}
