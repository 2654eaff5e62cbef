import type { Metadata, Topic } from "@millrace/metadata";
import type { Clock, Timer } from "@millrace/platform";
import type { PartitionIdentity } from "@millrace/storage";
import type { PartitionHandle } from "../partition-plane/partition-handle.ts";
import type { PartitionPlane } from "../partition-plane/partition-plane.ts";

/** Milliseconds between two looks for offsets of groups that are gone. */
const LOOK_INTERVAL_MS = 60_000;

/** What is looked through. */
export interface GoneGroupsOptions {
  readonly clock: Clock;
  readonly partitions: PartitionPlane;
  catalog(): Metadata;
}

/**
 * Removes what partitions remember of consumer groups that are gone. Whoever leads a partition does so when
 * the group is deleted; looked for are those that were left then: the leader was replaced before it did, had
 * no room for it, or took an offset for a node that had not heard of the deletion. They would keep messages
 * from retention for ever.
 *
 * A group that this node has not heard of yet is not gone: ids of a topic's groups only grow.
 */
export class GoneGroups {
  readonly #options: GoneGroupsOptions;
  #timer: Timer | undefined;

  constructor(options: GoneGroupsOptions) {
    this.#options = options;
  }

  /** Looks now, and again at an interval. */
  start(): void {
    this.#look();
    this.#timer = this.#options.clock.setTimer(LOOK_INTERVAL_MS, () => this.start());
  }

  /** Looks no more. */
  stop(): void {
    this.#timer?.cancel();
  }

  /** True when the partition's topic had a group of this id that was deleted. */
  isGone(identity: PartitionIdentity, groupId: number): boolean {
    const topic = this.#topicOf(identity);
    return topic !== undefined && this.#options.catalog().isGroupGone(topic, groupId);
  }

  #look(): void {
    for (const handle of this.#options.partitions.handles()) {
      const topic = handle.isPrimary ? this.#topicOf(handle.identity) : undefined;
      if (topic !== undefined) this.#forgetGone(handle, topic);
    }
  }

  #forgetGone(handle: PartitionHandle, topic: Topic): void {
    for (const groupId of handle.storedGroups()) {
      if (this.#options.catalog().isGroupGone(topic, groupId)) void handle.forgetGroup(groupId);
    }
  }

  #topicOf({ streamId, topicId }: PartitionIdentity): Topic | undefined {
    const catalog = this.#options.catalog();
    const stream = catalog.findStream({ kind: "numeric", id: streamId });
    return stream && catalog.findTopic(stream, { kind: "numeric", id: topicId });
  }
}
