import { assert, type CodedError } from "@millrace/errors";
import { type Metadata, purgeGenerationOf, type Topic } from "@millrace/metadata";
import type { Platform } from "@millrace/platform";
import type { PartitionIdentity } from "@millrace/storage";
import { packPartition } from "../routing/pack-partition.ts";
import type { PartitionMetrics } from "./metrics.ts";
import { removeOrphanPartitions } from "./orphan-partitions.ts";
import type { PartitionHandle, SeenRequest } from "./partition-handle.ts";
import { settingsOf } from "./partition-settings.ts";

/** Who makes the handles of partitions and looks after all of them together. */
export interface PartitionOwners {
  /** The handle of a partition that its owner does not know yet. */
  make(packed: number, identity: PartitionIdentity): PartitionHandle;
  /** Calls back once `contents` of every handle are exact: at once where all partitions are this shard's. */
  freshen(callback: () => void): void;
  /**
   * Calls back with the first of these partitions in which the request is under way or remembered, whatever
   * it holds: at once where all of them are this shard's, open, and led by this node. With 57 or 58 when
   * somebody who leads one of them could not be asked or could not tell, and none of the others has seen it.
   */
  findSeen(
    handles: readonly PartitionHandle[],
    request: SeenRequest,
    found: (handle: PartitionHandle | CodedError | undefined) => void,
  ): void;
  /** Lets what is in flight end, then flushes and closes every partition. */
  stop(): Promise<void>;
}

/** Every partition of the server, and how they come and go with the catalog. */
export class PartitionPlane {
  readonly #platform: Platform;
  readonly #owners: PartitionOwners;
  readonly #metrics: PartitionMetrics;
  readonly #handles = new Map<number, PartitionHandle>();

  constructor(options: {
    readonly platform: Platform;
    readonly owners: PartitionOwners;
    readonly metrics: PartitionMetrics;
  }) {
    this.#platform = options.platform;
    this.#owners = options.owners;
    this.#metrics = options.metrics;
  }

  get count(): number {
    return this.#handles.size;
  }

  /** Every partition there is now. */
  handles(): Iterable<PartitionHandle> {
    return this.#handles.values();
  }

  /** Segments and messages of all partitions, as far as this shard has heard. */
  totals(): { readonly segmentsCount: number; readonly messagesCount: number } {
    let [segmentsCount, messagesCount] = [0, 0];
    for (const { contents } of this.#handles.values()) {
      segmentsCount += contents.segmentsCount;
      messagesCount += contents.messagesCount;
    }
    return { segmentsCount, messagesCount };
  }

  /** Calls back once the contents of every partition are exact. */
  freshen(callback: () => void): void {
    this.#owners.freshen(callback);
  }

  /** A partition that the catalog holds, see `packPartition`. */
  get(packed: number): PartitionHandle {
    const handle = this.#handles.get(packed);
    assert(handle !== undefined, "every partition of the catalog has a handle");
    return handle;
  }

  /** This very partition; nothing once it was deleted, whoever has its id now. */
  find(identity: PartitionIdentity): PartitionHandle | undefined {
    const handle = this.#handles.get(packOf(identity));
    return handle?.identity.revision === identity.revision ? handle : undefined;
  }

  /** Finds the first of these partitions that has seen a request, see `PartitionOwners.findSeen`. */
  findSeen(
    handles: readonly PartitionHandle[],
    request: SeenRequest,
    found: (handle: PartitionHandle | CodedError | undefined) => void,
  ): void {
    this.#owners.findSeen(handles, request, found);
  }

  /**
   * Opens every partition of a recovered catalog and finishes deletions and purges that a stop interrupted.
   */
  async recover(
    catalog: Metadata,
    { commit, isReplicated }: { readonly commit: number; readonly isReplicated: boolean },
  ): Promise<void> {
    const { disk, log } = this.#platform;
    const opening: Promise<void>[] = [];
    for (const stream of catalog.streams()) {
      for (const topic of stream.topics.list()) {
        for (const partition of topic.partitions) {
          const { id: partitionId, revision } = partition;
          const identity = { streamId: stream.id, topicId: topic.id, partitionId, revision };
          const generation = purgeGenerationOf(topic, partition);
          opening.push(this.#recoverOne(identity, topic, { generation, isReplicated }));
        }
      }
    }
    await Promise.all(opening);
    const isLive = (identity: PartitionIdentity) => this.find(identity) !== undefined;
    await removeOrphanPartitions({ disk, log, commit, isReplicated, isLive });
  }

  /** Makes a partition and settles when it can be used or has failed to open; it can be found at once. */
  create(identity: PartitionIdentity, topic: Topic, bornInView?: number): Promise<void> {
    const packed = packOf(identity);
    const handle = this.#owners.make(packed, identity);
    this.#handles.set(packed, handle);
    this.#metrics.materialised.add(1);
    return handle.open(settingsOf(topic), bornInView);
  }

  /**
   * Takes a partition out of use and settles when nothing of it is in flight; its files go in the background.
   */
  async delete(identity: PartitionIdentity): Promise<void> {
    const handle = this.find(identity);
    if (handle === undefined) return;
    this.#handles.delete(packOf(identity));
    this.#metrics.removed.add(1);
    await handle.remove();
  }

  /** Empties a partition, see `PartitionHandle.purge`; one that is gone holds nothing. */
  async purge(identity: PartitionIdentity, generation: number): Promise<boolean> {
    return (await this.find(identity)?.purge(generation)) ?? true;
  }

  /** True once every purge that this node has heard of is done, false when nobody on it can tell. */
  async purgesHeld(): Promise<boolean> {
    const held = await Promise.all([...this.#handles.values()].map((handle) => handle.purgeHeld()));
    return !held.includes(false);
  }

  /** Lets what is in flight end, then flushes and closes every partition. */
  stop(): Promise<void> {
    return this.#owners.stop();
  }

  /** A replica has a purge that it lacks from the others, which it does not hear before its start is over. */
  async #recoverOne(
    identity: PartitionIdentity,
    topic: Topic,
    { generation, isReplicated }: { readonly generation: number; readonly isReplicated: boolean },
  ): Promise<void> {
    await this.create(identity, topic);
    const purged = this.purge(identity, generation);
    if (!isReplicated) await purged;
  }
}

function packOf({ streamId, topicId, partitionId }: PartitionIdentity): number {
  return packPartition(streamId, topicId, partitionId);
}
