import { ErrorCode, isCodedError } from "@millrace/errors";
import { identityOf, type Metadata, type Topic } from "@millrace/metadata";
import type { Clock, Log } from "@millrace/platform";
import type { PartitionIdentity } from "@millrace/storage";
import type { RetentionMetrics } from "../metrics.ts";
import type { PartitionHandle } from "../partition-plane/partition-handle.ts";
import type { PartitionPlane } from "../partition-plane/partition-plane.ts";
import { HeldSegments } from "./held-segments.ts";
import { dueSegments, holdersOf, type RetentionFacts, releasedSegments, sumOf } from "./retention-plan.ts";
import { keepsEverything, type RetentionPolicy, retentionPolicy } from "./retention-policy.ts";
import { tellRemoved } from "./tell-removed.ts";
import { SEGMENTS_PER_OP_MAX } from "./truncate-partition.ts";
import type { Truncation } from "./truncation.ts";

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
 * offset needs stays and is told. A partition that takes no writes is left alone, but not one on a full disk.
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
      const { handle, policy } = found;
      const facts = await factsFor(handle);
      if (facts === undefined) return;
      this.#noteHeld(identity, facts, policy);
      if (Math.min(this.#due(facts, policy), releasedSegments(facts)) === 0) return;
      const removed = await truncated(handle, policy);
      if (removed === undefined || removed.segmentsCount === 0) return;
      const { expired } = dueSegments(facts.sealed, policy, this.#now());
      const reason = removed.segmentsCount <= expired ? "expiry" : "size";
      const { log, metrics } = this.#options;
      tellRemoved({ log, metrics: metrics() }, identity, removed, reason);
      mayHaveMore = removed.segmentsCount === SEGMENTS_PER_OP_MAX;
    }
  }

  /** The partition and what its topic asks of it now, unless a purge takes all of it. */
  #find(identity: PartitionIdentity): { handle: PartitionHandle; policy: RetentionPolicy } | undefined {
    const { streamId, topicId } = identity;
    const catalog = this.#options.catalog();
    const stream = catalog.findStream({ kind: "numeric", id: streamId });
    const topic = stream && catalog.findTopic(stream, { kind: "numeric", id: topicId });
    const handle = this.#options.partitions.find(identity);
    if (topic === undefined || handle === undefined) return undefined;
    if (handle.purgesBegun > handle.purgesEnded || !handle.isPrimary) return undefined;
    return { handle, policy: this.#policyOf(topic) };
  }

  #policyOf(topic: Topic): RetentionPolicy {
    return retentionPolicy(topic, this.#options.messageLengthMax);
  }

  #due({ sealed }: RetentionFacts, policy: RetentionPolicy): number {
    const { expired, overSize } = dueSegments(sealed, policy, this.#now());
    return Math.max(expired, overSize);
  }

  #now(): number {
    return this.#options.clock.wallMicros();
  }

  #noteHeld(identity: PartitionIdentity, facts: RetentionFacts, policy: RetentionPolicy): void {
    const due = this.#due(facts, policy);
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

/** What retention looks at, where the partition takes writes, or would if there were space. */
async function factsFor(handle: PartitionHandle): Promise<RetentionFacts | undefined> {
  try {
    const { faultCode, facts } = await handle.lookAtRetention({ forCleaning: true });
    return faultCode === 0 || faultCode === ErrorCode.DiskFull ? facts : undefined;
  } catch (error) {
    // It was deleted since it was found.
    if (isCodedError(error)) return undefined;
    throw error;
  }
}

/** What went, or nothing when the op failed: the next pass tries again. */
function truncated(handle: PartitionHandle, policy: RetentionPolicy): Promise<Truncation | undefined> {
  return new Promise((resolve) => {
    handle.truncate({ kind: "policy", policy }, { removed: resolve, failed: () => resolve(undefined) });
  });
}
