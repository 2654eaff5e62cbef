import type { ClusterOptions } from "@millrace/broker";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { ClusterMetadata } from "@millrace/protocol";
import type { ReplicaBus } from "@millrace/transports/replica";
import type { Config } from "../config/schema.ts";
import { firstRootUser, type RootUserOptions } from "../root-user/root-credentials.ts";
import { nodeIdentity } from "./node-identity.ts";
import { clusterTiming, type ReplicaBusParts, replicaBusOf } from "./replica-bus.ts";
import { clusterRoster } from "./roster.ts";

/** What a start is told of its cluster. */
export interface ClusterSideOptions extends RootUserOptions {
  readonly config: Config;
  readonly replica: number;
  /** Called when a replica could not write for `cluster.superblock_wedged_fatal_timeout`. */
  readonly onReplicaWedged?: (reason: string) => void;
}

/** This server's part in a cluster of several nodes. */
export class ClusterSide {
  readonly brokerOptions: ClusterOptions;
  readonly #cluster: Config["cluster"];
  readonly #bus: ReplicaBus;

  private constructor(options: ClusterSideOptions, bus: ReplicaBus, id: bigint) {
    const { cluster } = options.config;
    this.#cluster = cluster;
    this.#bus = bus;
    const wedged = {
      timeoutMs: cluster.superblock_wedged_fatal_timeout,
      onWedged: (reason: unknown) => options.onReplicaWedged?.(String(reason)),
    };
    this.brokerOptions = { bus, cluster: id, timing: clusterTiming(cluster), wedged };
  }

  /**
   * The part that the configuration gives; nothing for a server without other nodes.
   * @throws CodedError InvalidConfiguration, InvalidTlsCertificatePath
   */
  static async of(options: ClusterSideOptions, parts: ReplicaBusParts): Promise<ClusterSide | undefined> {
    const { config, replica } = options;
    const bus = await replicaBusOf(config, replica, parts);
    if (bus === undefined) return undefined;
    await checkRootUser(options, parts);
    const { cluster } = await nodeIdentity(config.cluster, replica);
    return new ClusterSide(options, bus, cluster);
  }

  /** The nodes as this one sees them. */
  roster(primary: number | undefined): ClusterMetadata {
    const bus = this.#bus;
    const isUp = (replica: number) => replica === bus.replica || bus.isUp(replica);
    return clusterRoster(this.#cluster, { primary, isUp });
  }

  /** Opens the port for the other nodes and dials them. @throws CodedError CannotBindToSocket */
  listen(): Promise<void> {
    return this.#bus.listen();
  }

  close(): Promise<void> {
    return this.#bus.close();
  }
}

/**
 * Any node may be the one that makes the root user of a new cluster, so all of them have to know the
 * password.
 * @throws CodedError InvalidConfiguration on a node without data that was not told
 */
async function checkRootUser(options: RootUserOptions, { platform }: ReplicaBusParts): Promise<void> {
  const { passwordOrigin } = firstRootUser(options, platform.random);
  if (passwordOrigin !== "generated" || (await platform.disk.stat("metadata")) !== undefined) return;
  const text =
    "A new cluster needs a root user that all of its nodes know: set MILLRACE_ROOT_USERNAME and " +
    "MILLRACE_ROOT_PASSWORD on each, or start each with --with-default-root-credentials.";
  throw new CodedError(ErrorCode.InvalidConfiguration, text, { details: { key: "MILLRACE_ROOT_PASSWORD" } });
}
