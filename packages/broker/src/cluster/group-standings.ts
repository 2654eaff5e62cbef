import type { Clock } from "@millrace/platform";
import {
  type ClusterGroups,
  type ClusterPartitionGroup,
  type GroupStanding,
  type PartitionKey,
  type PartitionRange,
  type PartitionStanding,
  STANDINGS_MAX,
} from "@millrace/protocol";
import type { Replica } from "@millrace/vsr";
import type { MetadataPlane } from "../metadata-plane/metadata-plane.ts";
import { LocalPartition } from "../partition-plane/local-partition.ts";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import type { PartitionPlane } from "../partition-plane/partition-plane.ts";
import type { Shard } from "../shard.ts";
import { ForwardedCalls } from "./forwarded-calls.ts";

/** Milliseconds that a node has for its answer: one that is silent is told of as such. */
const ANSWER_MAX_MS = 1000;

const SILENT: GroupStanding = { status: "silent", view: 0, op: 0, commit: 0 };

/** What one node says of itself. */
export interface NodeStandings {
  readonly metadata: GroupStanding;
  readonly partitions: readonly PartitionStanding[];
}

/** The way of the question and of its answer; both may be lost. */
export interface StandingsWire {
  /** False when there was no way or no room: then it was not sent. */
  sendStandingsRequest(to: number, id: number, range: PartitionRange | undefined): boolean;
  sendStandings(to: number, id: number, standings: NodeStandings): void;
}

/** What the standings are of. */
export interface GroupStandingsOptions {
  readonly clock: Clock;
  readonly wire: StandingsWire;
  readonly replica: number;
  readonly replicaCount: number;
  /** See `ForwardedCallsOptions`. */
  readonly seed: number;
  readonly metadata: MetadataPlane;
  readonly partitions: PartitionPlane;
  /** True for the metadata or a partition's group of which this node lacks what nobody gives. */
  isWaiting(group: object): boolean;
}

/** Which page of the partitions' groups is asked for. */
export interface StandingsPage {
  readonly after: PartitionKey | undefined;
  readonly countMax: number;
  readonly streamId: number | undefined;
  readonly topicId: number | undefined;
}

const NO_WAIT = { op: 0, commit: 0 };

/** Where each node of the cluster stands in each group: of its own from memory, of the others by asking. */
export class GroupStandings {
  readonly #options: GroupStandingsOptions;
  readonly #calls: ForwardedCalls<NodeStandings>;

  constructor(options: GroupStandingsOptions) {
    this.#options = options;
    this.#calls = new ForwardedCalls({ ...options, timeoutMs: ANSWER_MAX_MS });
  }

  /** Asks all nodes; calls back once, within a second, with what those said that answered. */
  collect(page: StandingsPage, done: (groups: ClusterGroups) => void): void {
    const { replica, replicaCount } = this.#options;
    const own = this.#page(page);
    const range = rangeOf(own.partitions);
    const answers: (NodeStandings | undefined)[] = new Array(replicaCount).fill(undefined);
    answers[replica] = { metadata: this.#ofMetadata(), partitions: own.partitions };
    let waiting = replicaCount - 1;
    const heard = (from: number, answer?: NodeStandings) => {
      answers[from] = answer;
      waiting -= 1;
      if (waiting === 0) done(joined(own, answers));
    };
    if (waiting === 0) done(joined(own, answers));
    for (let to = 0; to < replicaCount; to += 1) if (to !== replica) this.#ask(to, range, heard);
  }

  /** Where each node stands in one partition's group, by replica id. */
  inPartition({
    streamId,
    topicId,
    partitionId,
  }: PartitionKey): Promise<readonly (GroupStanding | undefined)[]> {
    const after = partitionId === 0 ? undefined : { streamId, topicId, partitionId: partitionId - 1 };
    return new Promise((resolve) =>
      this.collect({ after, countMax: 1, streamId, topicId }, ({ partitions: [one] }) =>
        resolve(one?.partitionId === partitionId ? one.standings : []),
      ),
    );
  }

  /** Asks all other nodes for the last op of the metadata that each has executed. */
  askCommits(heard: (from: number, commit: number) => void): void {
    const { replica, replicaCount } = this.#options;
    for (let to = 0; to < replicaCount; to += 1) {
      if (to === replica) continue;
      this.#ask(to, undefined, (from, answer) => {
        if (answer !== undefined) heard(from, answer.metadata.commit);
      });
    }
  }

  /** Another node asks. */
  onRequest(from: number, id: number, range: PartitionRange | undefined): void {
    const { wire } = this.#options;
    const partitions = range === undefined ? [] : this.#ownIn((key) => isWithin(key, range));
    const told = partitions.slice(0, STANDINGS_MAX);
    wire.sendStandings(from, id, { metadata: this.#ofMetadata(), partitions: told });
  }

  /** Another node answers. */
  onStandings(from: number, id: number, standings: NodeStandings): void {
    this.#calls.onAnswer(from, { id, answer: standings }, { group: this, ...NO_WAIT });
  }

  /** A node is gone. */
  onPeerDown(peer: number): void {
    this.#calls.onPeerDown(peer);
  }

  /** What is under way ends without the other nodes. */
  stop(): void {
    this.#calls.stop();
  }

  #ask(
    to: number,
    range: PartitionRange | undefined,
    heard: (from: number, answer?: NodeStandings) => void,
  ): void {
    this.#calls.ask({
      to,
      send: (id) => this.#options.wire.sendStandingsRequest(to, id, range),
      answered: (answer) => heard(to, answer),
      failed: () => heard(to),
    });
  }

  #page(page: StandingsPage): OwnPage {
    if (page.countMax === 0) return { partitions: [], isLast: true };
    const all = this.#ownIn((key) => isAsked(key, page));
    return { partitions: all.slice(0, page.countMax), isLast: all.length <= page.countMax };
  }

  #ofMetadata(): GroupStanding {
    const { metadata } = this.#options;
    const standing = this.#waitingOr(metadata, standingOf(metadata.replica));
    return metadata.isSilent ? { ...standing, ...FAULTY } : standing;
  }

  #ownIn(isAsked: (key: PartitionKey) => boolean): PartitionStanding[] {
    const found: PartitionStanding[] = [];
    for (const handle of this.#options.partitions.handles()) {
      if (!(handle instanceof LocalPartition) || !isAsked(handle.identity)) continue;
      const standing = this.#waitingOr(handle.group, standingOfGroup(handle.group));
      found.push({ ...keyOf(handle.identity), standing });
    }
    return found.sort(compareKeys);
  }

  /** One that has waited for long is not up, however little it lacks. */
  #waitingOr(group: object, standing: GroupStanding): GroupStanding {
    const isHidden = standing.status === "normal" && this.#options.isWaiting(group);
    return isHidden ? { ...standing, status: "recovering" } : standing;
  }
}

const FAULTY = { status: "silent" } as const;

/** What a server that stands alone tells of a page; of partitions of its other shards no numbers. */
export function loneStandings(
  { metadata, partitions }: Pick<Shard, "metadata" | "partitions">,
  page: StandingsPage,
): ClusterGroups {
  const nodes = [{ replica: 0, metadata: standingOf(metadata.replica) }];
  const handles = [...partitions.handles()].filter(({ identity }) => isAsked(identity, page));
  const told = handles
    .sort((one, other) => compareKeys(one.identity, other.identity))
    .slice(0, page.countMax)
    .map((handle) => {
      const standing = handle instanceof LocalPartition ? standingOfGroup(handle.group) : undefined;
      return { ...keyOf(handle.identity), standings: [standing] };
    });
  const last = told.at(-1);
  const isLast = last === undefined || told.length === handles.length;
  return { nodes, partitions: told, next: isLast ? undefined : keyOf(last) };
}

/**
 * Where this node stands in a partition's group. A replica that another one's state is on its way to takes
 * nothing new until it is there.
 */
export function standingOfGroup({ replica, replication, fault }: PartitionGroup): GroupStanding {
  const standing = standingOf(replica);
  const isFetching = replica?.stateAwaited !== undefined;
  if (replication?.isStopped === true || (fault !== undefined && !isFetching))
    return { ...standing, ...FAULTY };
  return isFetching && standing.status === "normal" ? { ...standing, status: "recovering" } : standing;
}

function isAsked(key: PartitionKey, { after, streamId, topicId }: StandingsPage): boolean {
  return (
    (streamId === undefined || key.streamId === streamId) &&
    (topicId === undefined || key.topicId === topicId) &&
    (after === undefined || compareKeys(key, after) > 0)
  );
}

interface OwnPage {
  readonly partitions: readonly PartitionStanding[];
  readonly isLast: boolean;
}

/** Where a replica stands; nothing is one that is not open. */
export function standingOf(replica: Replica | undefined): GroupStanding {
  if (replica === undefined) return SILENT;
  const { status, view, op, commit } = replica;
  return { status, view, op, commit };
}

function rangeOf(partitions: readonly PartitionKey[]): PartitionRange | undefined {
  const [first, last] = [partitions[0], partitions.at(-1)];
  return first === undefined || last === undefined ? undefined : { first: keyOf(first), last: keyOf(last) };
}

function joined(own: OwnPage, answers: readonly (NodeStandings | undefined)[]): ClusterGroups {
  const byNode = answers.map(
    (answer) => new Map(answer?.partitions.map((one) => [textOf(one), one.standing])),
  );
  const partitions = own.partitions.map((one): ClusterPartitionGroup => {
    const key = textOf(one);
    return { ...keyOf(one), standings: byNode.map((standings) => standings.get(key)) };
  });
  const nodes = answers.map((answer, replica) => ({ replica, metadata: answer?.metadata }));
  const last = own.partitions.at(-1);
  return { nodes, partitions, next: own.isLast || last === undefined ? undefined : keyOf(last) };
}

function keyOf({ streamId, topicId, partitionId }: PartitionKey): PartitionKey {
  return { streamId, topicId, partitionId };
}

function textOf({ streamId, topicId, partitionId }: PartitionKey): string {
  return `${streamId}/${topicId}/${partitionId}`;
}

function isWithin(key: PartitionKey, { first, last }: PartitionRange): boolean {
  return compareKeys(key, first) >= 0 && compareKeys(key, last) <= 0;
}

function compareKeys(one: PartitionKey, other: PartitionKey): number {
  return one.streamId - other.streamId || one.topicId - other.topicId || one.partitionId - other.partitionId;
}
