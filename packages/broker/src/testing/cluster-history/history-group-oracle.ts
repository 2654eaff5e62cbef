import assert from "node:assert/strict";
import type { PolledMessage } from "../test-polls.ts";
import { type Commit, GroupCommits } from "./history-commits.ts";
import type { TopicOracle } from "./history-oracle.ts";
import { GroupOwners } from "./history-owners.ts";

/** Milliseconds for which an owner is waited for at least: less than the time-out, for clocks differ. */
const HELD_MS = 25_000;

/** Who is given messages of a partition. */
export interface Reader {
  readonly member: bigint;
  /** Of the group when it looked what it owns. */
  readonly generation: number;
  readonly nowMs: number;
  /** Its connection of then is there still. */
  isConnected(): boolean;
}

/** Who has not committed what it was given. */
interface Holder extends Reader {
  readonly firstOffset: number;
  readonly lastOffset: number;
}

/** What became of a commit: `unknown` when it may have been done by a try whose answer was lost. */
export type CommitEnd = "accepted" | "refused" | "unknown";

/** What must be true of one consumer group of a topic that nobody purges. */
export class GroupOracle {
  /** Who owns what, from what members were told. */
  readonly owners = new GroupOwners();
  readonly #partitions: readonly TopicOracle[];
  readonly #commits = new Map<TopicOracle, GroupCommits>();
  readonly #holders = new Map<TopicOracle, Holder>();
  /** Of the latest generation: who was given messages, committed or not. */
  readonly #readers = new Map<TopicOracle, Reader>();
  readonly #given = new Map<TopicOracle, Set<string>>();

  constructor(partitions: readonly TopicOracle[]) {
    this.#partitions = partitions;
    for (const one of partitions) this.#commits.set(one, new GroupCommits(one.label));
  }

  get topic(): TopicOracle {
    return this.partition(0);
  }

  /** Whether a partition is one of the group's topic. */
  has(partition: TopicOracle): boolean {
    return this.#commits.has(partition);
  }

  partition(partitionId: number): TopicOracle {
    const partition = this.#partitions[partitionId];
    assert.ok(partition !== undefined, "a member owns partitions that there are");
    return partition;
  }

  /** A member was given messages: none is left out, and nobody who is there has them uncommitted. */
  given(partition: TopicOracle, messages: readonly PolledMessage[], by: Reader): void {
    const first = messages[0]?.offset ?? 0;
    const lastOffset = messages.at(-1)?.offset ?? -1;
    const committed = this.#commitsOf(partition).highest;
    assert.ok(first <= committed + 1, `${partition.label} goes on at ${first}, ${committed} was committed`);
    const given = this.#given.get(partition) ?? new Set();
    this.#given.set(partition, given);
    for (const { text } of messages) given.add(text);
    const latest = this.#readers.get(partition);
    if (latest === undefined || by.generation >= latest.generation) this.#readers.set(partition, by);
    // A node that is behind gives again what was committed elsewhere; nobody has that to commit any more.
    const firstOffset = Math.max(first, committed + 1);
    if (firstOffset <= lastOffset) this.#hold(partition, { ...by, firstOffset, lastOffset });
  }

  /** A member begins to commit what it was given; the returned function takes how that ends. */
  committing(partition: TopicOracle, offset: number, by: Reader): (end: CommitEnd) => void {
    const commits = this.#commitsOf(partition);
    const commit = commits.begin(offset);
    const latest = this.#readers.get(partition);
    return (end) => {
      if (end === "refused") {
        commits.refuse(commit);
        return;
      }
      if (end === "accepted") this.#accepted(partition, commit, { by, latest });
      if (this.#holders.get(partition)?.member === by.member) this.#holders.delete(partition);
    };
  }

  /** What a node says is stored for the group when all has come to rest. */
  finallyStored(partition: TopicOracle, offset: number | undefined): void {
    this.#commitsOf(partition).finally(offset);
  }

  /** Messages that were acknowledged and that no member was given. */
  left(): string[] {
    return this.#partitions.flatMap((partition) => {
      const given = this.#given.get(partition);
      return [...partition.acknowledgedTexts()].filter((text) => given?.has(text) !== true);
    });
  }

  #commitsOf(partition: TopicOracle): GroupCommits {
    const commits = this.#commits.get(partition);
    assert.ok(commits !== undefined, "the group reads partitions of its topic");
    return commits;
  }

  #hold(partition: TopicOracle, by: Holder): void {
    const before = this.#holders.get(partition);
    // A node that is behind serves who owned it before; it can commit nothing.
    if (before !== undefined && by.generation < before.generation) return;
    // What lies before the next member's first message was committed, whether or not that was answered yet.
    const isGivenAgain =
      before !== undefined && by.firstOffset <= before.lastOffset && by.lastOffset >= before.firstOffset;
    assert.ok(
      !(isGivenAgain && isKeptFrom(before, by)),
      `${partition.label} is ${before?.member}'s, not ${by.member}'s`,
    );
    this.#holders.set(partition, by);
  }

  /** A commit is accepted from nobody behind whom somebody else came who is there still. */
  #accepted(
    partition: TopicOracle,
    commit: Commit,
    { by, latest }: { readonly by: Reader; readonly latest: Reader | undefined },
  ): void {
    this.#commitsOf(partition).accept(commit);
    const isLater = latest !== undefined && latest.generation > by.generation;
    assert.ok(
      !(isLater && isKeptFrom(latest, by)),
      `${partition.label} takes a commit of ${by.member}, generation ${by.generation}, ` +
        `while ${latest?.member} owns it since ${latest?.generation}`,
    );
  }
}

/** Somebody else who owned a partition is there still, and not for so long that others may be given it. */
function isKeptFrom(owner: Reader, other: Reader): boolean {
  return owner.member !== other.member && owner.isConnected() && other.nowMs - owner.nowMs < HELD_MS;
}
