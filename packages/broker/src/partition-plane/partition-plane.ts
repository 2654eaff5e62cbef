import { assert, CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { type BlockPool, ByteWriter, type ChecksumKernel } from "@millrace/framing";
import { type Metadata, purgeGenerationOf, type Topic } from "@millrace/metadata";
import type { Platform } from "@millrace/platform";
import {
  deletePartitionFiles,
  openPartition,
  type PartitionIdentity,
  type PartitionOptions,
  type RepairedOffsets,
  StorageOperation,
  TailCache,
} from "@millrace/storage";
import { SERVER_CLIENT } from "@millrace/vsr";
import type { BrokerConfig } from "../broker-config.ts";
import { Fifo } from "../queues/fifo.ts";
import { packPartition } from "../routing/pack-partition.ts";
import type { GroupContext } from "./group-context.ts";
import { removeOrphanPartitions } from "./orphan-partitions.ts";
import { PartitionGroup } from "./partition-group.ts";
import { partitionPath } from "./partition-path.ts";

/** What the plane is made from. */
export interface PartitionPlaneOptions {
  readonly platform: Platform;
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
  readonly config: BrokerConfig;
  readonly context: GroupContext;
}

/** Every partition of this shard: its group, its files, and how both come and go with the catalog. */
export class PartitionPlane {
  readonly #options: PartitionPlaneOptions;
  readonly #groups = new Map<number, PartitionGroup>();
  readonly #tailCache: TailCache;
  readonly #removals = new Set<Promise<void>>();
  readonly #waitingToOpen = new Fifo<() => void>();
  #openingCount = 0;

  constructor(options: PartitionPlaneOptions) {
    this.#options = options;
    this.#tailCache = new TailCache({ lengthMax: options.config.tailCacheLengthMax });
  }

  get count(): number {
    return this.#groups.size;
  }

  /** Every group there is now. */
  groups(): Iterable<PartitionGroup> {
    return this.#groups.values();
  }

  /** Segments and messages of all partitions. */
  totals(): { readonly segmentsCount: number; readonly messagesCount: number } {
    let [segmentsCount, messagesCount] = [0, 0];
    for (const { contents } of this.#groups.values()) {
      segmentsCount += contents.segmentsCount;
      messagesCount += contents.messagesCount;
    }
    return { segmentsCount, messagesCount };
  }

  /** The group of a partition that the catalog holds, see `packPartition`. */
  get(packed: number): PartitionGroup {
    const group = this.#groups.get(packed);
    assert(group !== undefined, "every partition of the catalog has a group");
    return group;
  }

  /** The group of this very partition; nothing once it was deleted, whoever has its id now. */
  find(identity: PartitionIdentity): PartitionGroup | undefined {
    const group = this.#groups.get(packOf(identity));
    return group?.identity.revision === identity.revision ? group : undefined;
  }

  /**
   * Opens every partition of a recovered catalog and finishes deletions and purges that a stop interrupted.
   */
  async recover(catalog: Metadata, commit: number): Promise<void> {
    const { disk, log } = this.#options.platform;
    const opening: Promise<void>[] = [];
    for (const stream of catalog.streams()) {
      for (const topic of stream.topics.list()) {
        for (const partition of topic.partitions) {
          const { id: partitionId, revision } = partition;
          const identity = { streamId: stream.id, topicId: topic.id, partitionId, revision };
          opening.push(this.#recoverOne(identity, topic, purgeGenerationOf(topic, partition)));
        }
      }
    }
    await Promise.all(opening);
    const isLive = (identity: PartitionIdentity) => this.find(identity) !== undefined;
    await removeOrphanPartitions({ disk, log, commit, isLive });
  }

  /** Makes a partition and settles when it can be used or has failed to open; it can be found at once. */
  create(identity: PartitionIdentity, topic: Topic): Promise<void> {
    const group = new PartitionGroup(identity, this.#options.context);
    this.#groups.set(packOf(identity), group);
    this.#options.context.metrics.materialised.add(1);
    return this.#open(group, topic);
  }

  /**
   * Takes a partition out of use and settles when nothing of it is in flight; its files go in the background.
   */
  async delete(identity: PartitionIdentity): Promise<void> {
    const group = this.find(identity);
    if (group === undefined) return;
    this.#groups.delete(packOf(identity));
    this.#options.context.metrics.removed.add(1);
    await group.close();
    this.#inBackground(this.#removeFiles(group));
  }

  /**
   * Closes a partition that takes no writes and opens it anew, leaving damage behind, see `repairDamage` of
   * storage. Settles when it can be used or has failed to open.
   */
  async reopen(group: PartitionGroup, topic: Topic, offsets: RepairedOffsets): Promise<void> {
    await group.takeOut()?.close();
    await this.#open(group, topic, offsets);
  }

  /** Empties a partition and settles when that is committed. */
  async purge(identity: PartitionIdentity, generation: number): Promise<void> {
    const group = this.find(identity);
    if (group === undefined) return;
    await new Promise<void>((resolve) => group.afterOpen(resolve));
    if ((group.partition?.purgeGeneration ?? generation) >= generation) return;
    await new Promise<void>((resolve) =>
      group.purge({
        operation: StorageOperation.purge,
        client: SERVER_CLIENT,
        request: 0n,
        user: 0,
        body: new ByteWriter(8).u64(generation).finish(),
        committed: () => resolve(),
        failed: (code) => {
          const facts = { ...identity, generation, code };
          this.#options.platform.log.error(
            "A partition could not be purged; the next start tries again.",
            facts,
          );
          resolve();
        },
      }),
    );
  }

  /** Lets what is in flight end, then flushes and closes every partition. */
  async stop(): Promise<void> {
    await Promise.all([...this.#groups.values()].map((group) => this.#close(group)));
    await Promise.all(this.#removals);
    this.#options.context.batchCipher?.close();
  }

  async #recoverOne(identity: PartitionIdentity, topic: Topic, generation: number): Promise<void> {
    await this.create(identity, topic);
    await this.purge(identity, generation);
  }

  async #open(group: PartitionGroup, topic: Topic, repair?: RepairedOffsets): Promise<void> {
    await this.#turnToOpen();
    try {
      const options = this.#optionsOf(group.identity, topic);
      group.opened(await openPartition(repair === undefined ? options : { ...options, repair }));
    } catch (error) {
      if (!isCodedError(error)) throw error;
      this.#options.platform.log.error("A partition could not be opened.", {
        ...group.identity,
        code: error.code,
        reason: error.message,
      });
      group.opened(new CodedError(error.code, error.message, { details: error.details, cause: error }));
    } finally {
      this.#openingCount -= 1;
      this.#waitingToOpen.shift()?.();
    }
  }

  #turnToOpen(): Promise<void> | undefined {
    this.#openingCount += 1;
    if (this.#openingCount <= this.#options.config.partitionsOpeningMax) return undefined;
    return new Promise((resolve) => this.#waitingToOpen.push(resolve));
  }

  #optionsOf(identity: PartitionIdentity, topic: Topic): PartitionOptions {
    const { platform, kernel, pool, config } = this.#options;
    return {
      disk: platform.disk,
      path: partitionPath(identity),
      identity,
      kernel,
      pool,
      tailCache: this.#tailCache,
      log: platform.log,
      role: "exclusive",
      segmentLengthMax: topic.segmentSize,
      reservedLength: topic.preallocateSegments ? topic.segmentSize : 0,
      durability: topic.durability,
      offsetDurability: topic.consumerOffsetDurability,
      validateChecksums: config.validateChecksums,
      consumerOffsetsMax: config.consumerOffsetsMax,
      requestClientsMax: config.requestClientsMax,
      batchCipher: this.#options.context.batchCipher,
    };
  }

  async #removeFiles(group: PartitionGroup): Promise<void> {
    const { disk, log } = this.#options.platform;
    await new Promise<void>((resolve) => group.afterOpen(resolve));
    try {
      await group.partition?.close();
      await deletePartitionFiles(disk, partitionPath(group.identity));
    } catch (error) {
      if (!isCodedError(error)) throw error;
      const facts = { ...group.identity, code: error.code };
      log.warn("Files of a deleted partition could not be removed; the next start tries again.", facts);
    }
  }

  async #close(group: PartitionGroup): Promise<void> {
    await group.close(ErrorCode.ShuttingDown);
    await group.partition?.close().catch((error: unknown) => {
      if (!isCodedError(error)) throw error;
      const facts = { ...group.identity, code: error.code };
      this.#options.platform.log.error("A partition could not be closed cleanly.", facts);
    });
  }

  #inBackground(work: Promise<void>): void {
    const tracked = work.finally(() => this.#removals.delete(tracked));
    this.#removals.add(tracked);
  }
}

function packOf({ streamId, topicId, partitionId }: PartitionIdentity): number {
  return packPartition(streamId, topicId, partitionId);
}
