import { identityOf, type Metadata, type Topic } from "@millrace/metadata";
import type { Clock, Log } from "@millrace/platform";
import type { PartitionIdentity } from "@millrace/storage";
import type { RetentionMetrics } from "../metrics.ts";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import type { PartitionPlane } from "../partition-plane/partition-plane.ts";
import { HeldSegments } from "./held-segments.ts";
import { dueSegments, holdersOf, type RetentionFacts, releasedSegments, sumOf } from "./retention-plan.ts";
import { keepsEverything, type RetentionPolicy, retentionPolicy } from "./retention-policy.ts";
import { tellRemoved } from "./tell-removed.ts";
import { retentionFacts, type Truncation, truncatePartition } from "./truncate-partition.ts";

/** Segments one op removes at most, so that arrears do not fill the disk's queue; the next op follows. */
const SEGMENTS_PER_PASS_MAX = 16;

/** Partitions looked at before other work gets its turn: a look takes microseconds. */
const PARTITIONS_PER_TURN = 64;

/** What the cleaner works with. */
export interface MessageCleanerOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly partitions: PartitionPlane;
  readonly intervalMs: number;
  readonly messageLengthMax: number;
  readonly metrics: () => RetentionMetrics;
  catalog(): Metadata;
}

/**
 * Removes what has expired and what is over the size of its topic: whole sealed segments, the oldest first,
 * every interval, one partition after the other. The active segment never goes.
 *
 * Topics are looked up anew for each partition, so an update counts from the next look on. What a stored
 * offset needs stays and is told. A partition that takes no writes is left alone.
 * @see server-semantics section 6
 */
export class MessageCleaner {
  readonly held: HeldSegments;
  readonly #options: MessageCleanerOptions;
  #timer: { cancel(): void } | undefined;
  #pass: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: MessageCleanerOptions) {
    this.#options = options;
    this.held = new HeldSegments(options.log);
  }

  /** Cleans from now on, an interval from now for the first time. */
  start(): void {
    const { clock, intervalMs } = this.#options;
    this.#timer = clock.setTimer(intervalMs, () => {
      this.start();
      this.#pass ??= this.#clean().finally(() => {
        this.#pass = undefined;
      });
    });
  }

  /** Begins nothing more; what is under way ends with the partitions it is under way in. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  async #clean(): Promise<void> {
    let looked = 0;
    for (const identity of this.#placesWithPolicy()) {
      if (this.#isStopped) return;
      await this.#cleanPartition(identity);
      looked += 1;
      if (looked % PARTITIONS_PER_TURN === 0) await this.#turn();
    }
    this.held.passEnded();
  }

  /** Listed before anything is awaited: the catalog changes in place. */
  #placesWithPolicy(): PartitionIdentity[] {
    const places: PartitionIdentity[] = [];
    for (const stream of this.#options.catalog().streams()) {
      for (const topic of stream.topics.list()) {
        if (keepsEverything(this.#policyOf(topic))) continue;
        for (const partition of topic.partitions) places.push(identityOf(topic, partition));
      }
    }
    return places;
  }

  async #cleanPartition(identity: PartitionIdentity): Promise<void> {
    for (let mayHaveMore = true; mayHaveMore && !this.#isStopped; ) {
      const found = this.#find(identity);
      if (found === undefined) return;
      const { group, policy } = found;
      const want = (facts: RetentionFacts) => this.#wanted(facts, policy);
      const facts = retentionFacts(group.openPartition);
      this.#noteHeld(identity, facts, policy);
      if (Math.min(want(facts), releasedSegments(facts)) === 0) return;
      const removed = await truncated(group, want);
      if (removed === undefined || removed.segmentsCount === 0) return;
      const { expired } = dueSegments(facts.sealed, policy, this.#now());
      const reason = removed.segmentsCount <= expired ? "expiry" : "size";
      const { log, metrics } = this.#options;
      tellRemoved({ log, metrics: metrics() }, identity, removed, reason);
      await group.partition?.filesRemoved();
      mayHaveMore = removed.segmentsCount === SEGMENTS_PER_PASS_MAX;
    }
  }

  /** The partition and what its topic asks of it now, when it can be cleaned. */
  #find(identity: PartitionIdentity): { group: PartitionGroup; policy: RetentionPolicy } | undefined {
    const { streamId, topicId } = identity;
    const catalog = this.#options.catalog();
    const stream = catalog.findStream({ kind: "numeric", id: streamId });
    const topic = stream && catalog.findTopic(stream, { kind: "numeric", id: topicId });
    const group = this.#options.partitions.find(identity);
    if (topic === undefined || group?.partition === undefined || group.isPurging) return undefined;
    if (group.fault !== undefined) {
      // Nobody may be writing any more: the next look finds it writable when there is space.
      group.lookForSpace();
      return undefined;
    }
    return { group, policy: this.#policyOf(topic) };
  }

  #policyOf(topic: Topic): RetentionPolicy {
    return retentionPolicy(topic, this.#options.messageLengthMax);
  }

  #wanted({ sealed }: RetentionFacts, policy: RetentionPolicy): number {
    const { expired, overSize } = dueSegments(sealed, policy, this.#now());
    return Math.min(Math.max(expired, overSize), SEGMENTS_PER_PASS_MAX);
  }

  #now(): number {
    return this.#options.clock.wallMicros();
  }

  #noteHeld(identity: PartitionIdentity, facts: RetentionFacts, policy: RetentionPolicy): void {
    const { expired, overSize } = dueSegments(facts.sealed, policy, this.#now());
    const due = Math.max(expired, overSize);
    const released = releasedSegments(facts);
    const [holder] = holdersOf(facts);
    if (released >= due || holder === undefined) return;
    this.held.note({ identity, holder, ...sumOf(facts.sealed, released, due) });
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#options.clock.setTimer(0, resolve);
    });
  }
}

/** What went, or nothing when the op failed: the next pass tries again. */
function truncated(
  group: PartitionGroup,
  want: (facts: RetentionFacts) => number,
): Promise<Truncation | undefined> {
  return new Promise((resolve) => {
    truncatePartition(group, want, { removed: resolve, failed: () => resolve(undefined) });
  });
}
