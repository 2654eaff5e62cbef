import type { Clock } from "@millrace/platform";
import { type ClusterGroups, type GroupStanding, type PartitionKey, STANDINGS_MAX } from "@millrace/protocol";
import type { MetadataPlane } from "../metadata-plane/metadata-plane.ts";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import { type GroupStandings, standingOfGroup } from "./group-standings.ts";

/** Milliseconds between two looks. */
const LOOK_MS = 1000;
/** So many looks in a row find a partition without this node: clients look for another leader after 2 s. */
const UNFIT_LOOKS_MIN = 3;
/** After each time that the metadata is offered it is offered again after twice the time, up to this. */
const PAUSE_MAX_MS = 60_000;

/** What it works with. */
export interface UnfitLeaderOptions {
  readonly clock: Clock;
  readonly metadata: MetadataPlane;
  readonly standings: Pick<GroupStandings, "collect">;
  /** This node. */
  readonly replica: number;
  /** The groups of this node's partitions. */
  groups(): Iterable<PartitionGroup>;
}

/**
 * Lets go of the metadata on a node that takes no part in some of its partitions: its disk is full or
 * refuses, files are damaged, a state is being fetched. Clients follow the node that leads the metadata, and
 * that one would refuse their sends to those partitions, for as long as it cannot take part, while others
 * lead them.
 *
 * The node that takes part in more partitions than this one gets the metadata. When there is none, nothing
 * would be better elsewhere.
 * @see docs/adr/0067
 */
export class UnfitLeader {
  readonly #options: UnfitLeaderOptions;
  #unfitLooks = 0;
  #pauseMs = LOOK_MS;
  #nextMs = 0;
  /** The others are being asked. */
  #isComparing = false;
  #isStopped = false;

  constructor(options: UnfitLeaderOptions) {
    this.#options = options;
  }

  /** Begins to look; returns what ends it. */
  start(): () => void {
    const { clock } = this.#options;
    const look = () => {
      this.#look(clock.monotonicMs());
      timer = clock.setTimer(LOOK_MS, look);
    };
    let timer = clock.setTimer(LOOK_MS, look);
    return () => {
      this.#isStopped = true;
      timer.cancel();
    };
  }

  #look(nowMs: number): void {
    const { metadata, groups } = this.#options;
    const isUnfit = metadata.isPrimary && lacksSome(groups());
    if (metadata.isPrimary && !isUnfit) this.#pauseMs = LOOK_MS;
    this.#unfitLooks = isUnfit ? this.#unfitLooks + 1 : 0;
    if (this.#unfitLooks < UNFIT_LOOKS_MIN || nowMs < this.#nextMs || this.#isComparing) return;
    this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MAX_MS);
    this.#nextMs = nowMs + this.#pauseMs;
    this.#isComparing = true;
    this.#compare([], undefined);
  }

  /**
   * Goes on behind a partition. What lies before the first that this node lacks counts too: others may lack
   * that.
   */
  #compare(counts: readonly number[], after: PartitionKey | undefined): void {
    const page = { after, countMax: STANDINGS_MAX, streamId: undefined, topicId: undefined };
    this.#options.standings.collect(page, (standings) => {
      const { nodes, next } = standings;
      const soFar = nodes.map(({ replica }) => (counts[replica] ?? 0) + countOf(replica, standings));
      if (next !== undefined && !this.#isStopped) this.#compare(soFar, next);
      else this.#yieldToFitter(nodes, soFar);
    });
  }

  /** To the one that takes part in the most partitions, when those are more than this one takes part in. */
  #yieldToFitter(nodes: ClusterGroups["nodes"], counts: readonly number[]): void {
    this.#isComparing = false;
    const { metadata, replica: own, groups } = this.#options;
    if (this.#isStopped || !lacksSome(groups())) return;
    let best = own;
    for (const { replica, metadata: standing } of nodes)
      if (takesPart(standing) && (counts[replica] ?? 0) > (counts[best] ?? 0)) best = replica;
    if (best !== own) metadata.hear({ kind: "yield", to: best });
  }
}

/** True when there is a partition that this node takes no part in. */
function lacksSome(groups: Iterable<PartitionGroup>): boolean {
  for (const group of groups) if (!group.isClosed && !takesPart(standingOfGroup(group))) return true;
  return false;
}

function takesPart(standing: GroupStanding | undefined): boolean {
  return standing?.status === "normal";
}

/** Partitions of a page that a node takes part in. */
function countOf(replica: number, { partitions }: ClusterGroups): number {
  return partitions.filter(({ standings }) => takesPart(standings[replica])).length;
}
