import type { Clock } from "@millrace/platform";
import { type ClusterGroups, type GroupStanding, type PartitionKey, STANDINGS_MAX } from "@millrace/protocol";
import type { MetadataPlane } from "../metadata-plane/metadata-plane.ts";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import { type GroupStandings, type StandingsPage, standingOfGroup } from "./group-standings.ts";

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
    return () => timer.cancel();
  }

  #look(nowMs: number): void {
    const { metadata, groups } = this.#options;
    const lacked = metadata.isPrimary ? firstLacked(groups()) : undefined;
    if (metadata.isPrimary && lacked === undefined) this.#pauseMs = LOOK_MS;
    this.#unfitLooks = lacked === undefined ? 0 : this.#unfitLooks + 1;
    if (lacked === undefined || this.#unfitLooks < UNFIT_LOOKS_MIN || nowMs < this.#nextMs) return;
    this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MAX_MS);
    this.#nextMs = nowMs + this.#pauseMs;
    this.#options.standings.collect(pageFrom(lacked), (standings) => {
      const to = fitterThan(this.#options.replica, standings);
      if (to !== undefined) metadata.hear({ kind: "yield", to });
    });
  }
}

/** The first of the partitions that this node takes no part in. */
function firstLacked(groups: Iterable<PartitionGroup>): PartitionKey | undefined {
  for (const group of groups)
    if (!group.isClosed && !takesPart(standingOfGroup(group))) return group.identity;
  return undefined;
}

/** The partition and those behind it, as many as a node tells of at once. */
function pageFrom({ streamId, topicId, partitionId }: PartitionKey): StandingsPage {
  const after = { streamId, topicId, partitionId: partitionId - 1 };
  return { after, countMax: STANDINGS_MAX, streamId: undefined, topicId: undefined };
}

function takesPart(standing: GroupStanding | undefined): boolean {
  return standing?.status === "normal";
}

/** The node that takes part in the most partitions, when those are more than `own` takes part in. */
function fitterThan(own: number, { nodes, partitions }: ClusterGroups): number | undefined {
  const countOf = (at: number) => partitions.filter(({ standings }) => takesPart(standings[at])).length;
  const others = nodes.filter(({ replica, metadata }) => replica !== own && takesPart(metadata));
  const [best] = others.map(({ replica }) => replica).sort((one, other) => countOf(other) - countOf(one));
  return best !== undefined && countOf(best) > countOf(own) ? best : undefined;
}
