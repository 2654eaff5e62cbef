import type { Clock, Random } from "@millrace/platform";
import type { MetadataPlane } from "../metadata-plane/metadata-plane.ts";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";

/** Milliseconds between two looks, half of it drawn anew each time. */
const LOOK_MS = 500;
/** So long a node has led the metadata, and another one a partition, before the partition is asked for. */
const SETTLED_MS = 5000;
/** Groups that are asked for in one look: the others go on undisturbed. */
const ASKED_AT_ONCE_MAX = 16;
/** A group that was asked for in vain, or was lost again, is asked for after twice the time, up to this. */
const PAUSE_MAX_MS = 300_000;
/** A group that was led for so long starts anew. */
const KEPT_MS = 60_000;

/** What is known of one partition's group. */
interface Followed {
  view: number;
  /** Since when the group is in that view, as this node saw it. */
  sinceMs: number;
  /** How long after an ask the next one comes. */
  pauseMs: number;
  nextMs: number;
}

/** What alignment works with. */
export interface AlignmentOptions {
  readonly clock: Clock;
  readonly random: Pick<Random, "fraction">;
  readonly metadata: MetadataPlane;
  /** The groups of this node's partitions. */
  groups(): Iterable<PartitionGroup>;
}

/**
 * Brings the leaders together: clients follow the node that leads the metadata, so that one asks for the
 * groups of partitions that another living node leads.
 *
 * It asks only when both have been as they are for a while, for few groups at a time, and ever more seldom
 * for one that it does not get or loses again. The group's primary hands over as soon as nothing is in
 * flight; whether it does is up to it.
 * @see docs/adr/0052
 */
export class Alignment {
  readonly #options: AlignmentOptions;
  readonly #followed = new WeakMap<PartitionGroup, Followed>();
  #metadataView = -1;
  #leadsSinceMs = 0;

  constructor(options: AlignmentOptions) {
    this.#options = options;
  }

  /** Begins to look; returns what ends it. */
  start(): () => void {
    const { clock, random } = this.#options;
    const delayMs = () => LOOK_MS / 2 + (random.fraction() * LOOK_MS) / 2;
    const look = () => {
      this.#look(clock.monotonicMs());
      timer = clock.setTimer(delayMs(), look);
    };
    let timer = clock.setTimer(delayMs(), look);
    return () => timer.cancel();
  }

  #look(nowMs: number): void {
    const leads = this.#leads(nowMs);
    let asked = 0;
    for (const group of this.#options.groups()) {
      const followed = this.#follow(group, nowMs);
      if (!leads || followed === undefined || asked >= ASKED_AT_ONCE_MAX) continue;
      if (nowMs - followed.sinceMs < SETTLED_MS || nowMs < followed.nextMs) continue;
      asked += 1;
      followed.pauseMs = Math.min(2 * followed.pauseMs, PAUSE_MAX_MS);
      followed.nextMs = nowMs + followed.pauseMs;
      group.replication?.hear({ kind: "lead" });
    }
  }

  /** Whether this node has led the metadata for a while, in one view. */
  #leads(nowMs: number): boolean {
    const { isPrimary, view } = this.#options.metadata;
    if (!isPrimary || view !== this.#metadataView) this.#leadsSinceMs = nowMs;
    this.#metadataView = isPrimary ? view : -1;
    return isPrimary && nowMs - this.#leadsSinceMs >= SETTLED_MS;
  }

  /** What is known of a group that this node could lead and does not. */
  #follow(group: PartitionGroup, nowMs: number): Followed | undefined {
    const { replica, fault, partition } = group;
    if (replica === undefined) return undefined;
    const { view, status, isPrimary } = replica;
    const before = this.#followed.get(group);
    const followed = before ?? { view, sinceMs: nowMs, pauseMs: SETTLED_MS, nextMs: 0 };
    if (before === undefined) this.#followed.set(group, followed);
    if (followed.view !== view) Object.assign(followed, { view, sinceMs: nowMs });
    if (isPrimary && nowMs - followed.sinceMs >= KEPT_MS) followed.pauseMs = SETTLED_MS;
    const isFit = partition !== undefined && fault === undefined && status === "normal";
    return isFit && !isPrimary ? followed : undefined;
  }
}
