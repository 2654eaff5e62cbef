import assert from "node:assert/strict";
import type { PolledMessage } from "../test-polls.ts";
import { type Commit, GroupCommits } from "./history-commits.ts";
import type { TopicOracle } from "./history-oracle.ts";
import { GroupOwners } from "./history-owners.ts";

/**
 * Milliseconds within which a poll that its client has given up is over at its node: it may have waited for
 * the partition, for room there, and for the node that leads it.
 */
const POLL_LATE_MAX_MS = 15_000;
/** Milliseconds for which an owner is waited for at least: less than the time-out, for clocks differ. */
const HELD_MS = 25_000;

/** Who is given messages of a partition. */
export interface Reader {
  readonly member: bigint;
  /** Of the group when it looked what it owns. */
  readonly generation: number;
  readonly nowMs: number;
  /** Over which it was asked. */
  readonly connection?: unknown;
  /** That one is there still. */
  isConnected(): boolean;
}

/** Who has not committed what it was given. */
interface Holder extends Reader {
  readonly firstOffset: number;
  readonly lastOffset: number;
}

/** What became of a commit: `unknown` when it may have been done by a try whose answer was lost. */
export type CommitEnd = "accepted" | "refused" | "unknown";

/** What became of a poll that commits what it brings: `unknown` when nobody has its answer. */
export type PollEnd = "refused" | "unknown";

/** Messages that no member was given and that are behind the group all the same. */
interface Skip {
  readonly from: number;
  readonly to: number;
  /** Polls of which one has to have brought them. */
  readonly polls: readonly Commit[];
}

/** What must be true of one consumer group of a topic that nobody purges. */
export class GroupOracle {
  /** Who owns what, from what members were told. */
  readonly owners = new GroupOwners();
  readonly #partitions: readonly TopicOracle[];
  readonly #commits = new Map<TopicOracle, GroupCommits>();
  readonly #holders = new Map<TopicOracle, Holder>();
  /** Of the latest generation: who was given messages, committed or not. */
  readonly #readers = new Map<TopicOracle, Reader>();
  readonly #skips = new Map<TopicOracle, Skip[]>();
  /** By partition and connection: the last message that a poll brought and committed. */
  readonly #behind = new Map<TopicOracle, Map<unknown, number>>();
  readonly #nowMs: () => number;
  readonly #given = new Map<TopicOracle, Set<string>>();

  constructor(partitions: readonly TopicOracle[], nowMs: () => number = () => 0) {
    this.#partitions = partitions;
    this.#nowMs = nowMs;
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

  /**
   * A member was given messages: none is left out, and nobody who is there has them uncommitted.
   *
   * @param poll  of one that commits what it brings
   */
  given(partition: TopicOracle, messages: readonly PolledMessage[], by: Reader, poll?: Commit): void {
    const first = messages[0]?.offset ?? 0;
    const lastOffset = messages.at(-1)?.offset ?? -1;
    this.#checkForward(partition, first, by);
    this.#passed(partition, first - 1, poll);
    const committed = this.#commitsOf(partition).highest;
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

  /** A member is about to poll and to commit what that brings; the result takes how it ends. */
  polling(partition: TopicOracle, by: Reader) {
    const commits = this.#commitsOf(partition);
    const poll = commits.beginPoll();
    const latest = this.#readers.get(partition);
    return {
      /** It brought messages, which are committed. */
      brought: (messages: readonly PolledMessage[]) => {
        const last = messages.at(-1)?.offset ?? -1;
        this.given(partition, messages, by, poll);
        this.#accepted(partition, poll, { by, latest, offset: last });
        if (this.#holders.get(partition)?.member === by.member) this.#holders.delete(partition);
        const behind = this.#behind.get(partition) ?? new Map<unknown, number>();
        this.#behind.set(partition, behind.set(by.connection, last));
      },
      ended: (end: PollEnd) => {
        if (end === "refused") commits.refuse(poll);
        else poll.lostMs = this.#nowMs();
      },
    };
  }

  /** What a node says is stored for the group, while one member alone reads what is left. */
  stored(partition: TopicOracle, offset: number | undefined): void {
    this.#passed(partition, offset ?? -1);
  }

  /** What a node says is stored for the group when all has come to rest. */
  finallyStored(partition: TopicOracle, offset: number | undefined): void {
    const mayBring = (poll: Commit, at: number) => mayHaveBrought(partition, poll, at);
    this.#commitsOf(partition).finally(offset, mayBring);
    for (const { from, to, polls } of this.#skips.get(partition) ?? []) {
      for (let at = from; at <= to; at += 1)
        assert.ok(
          polls.some((poll) => mayBring(poll, at)),
          `${partition.label}@${at} is left out, and no poll that may have brought it was lost`,
        );
    }
  }

  /** Messages that were acknowledged, that no member was given and that no lost poll can have brought. */
  left(): string[] {
    return this.#partitions.flatMap((partition) => {
      const given = this.#given.get(partition);
      const passed = Math.max(-1, ...(this.#skips.get(partition) ?? []).map(({ to }) => to));
      const isBehind = (text: string) => (partition.offsetOf(text) ?? Number.POSITIVE_INFINITY) <= passed;
      return [...partition.acknowledgedTexts()].filter(
        (text) => given?.has(text) !== true && !isBehind(text),
      );
    });
  }

  /** The group goes on behind an offset: somebody committed it, or a poll that was lost may have. */
  #passed(partition: TopicOracle, offset: number, own?: Commit): void {
    const commits = this.#commitsOf(partition);
    const { highest } = commits;
    if (offset <= highest) return;
    const polls = commits.unknownPolls.filter((poll) => poll !== own);
    const text = `${partition.label} goes on at ${offset + 1}, ${highest} was committed`;
    assert.ok(polls.length > 0, text);
    const skips = this.#skips.get(partition) ?? [];
    this.#skips.set(partition, [...skips, { from: highest + 1, to: offset, polls }]);
  }

  /** Where nobody stores offsets the next poll on a connection goes on behind what was committed there. */
  #checkForward(partition: TopicOracle, first: number, { connection }: Reader): void {
    const behind = this.#behind.get(partition)?.get(connection) ?? -1;
    if (connection === undefined || this.#commitsOf(partition).hasStores) return;
    assert.ok(first > behind, `${partition.label} goes back to ${first}, ${behind} was committed before`);
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
    how: { readonly by: Reader; readonly latest: Reader | undefined; readonly offset?: number },
  ): void {
    const { by, latest, offset = commit.offset } = how;
    this.#commitsOf(partition).accept(commit, offset);
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

/**
 * Whether a poll of a member may have brought the message at an offset and committed it, though nobody has
 * its answer: then the message was sent before the poll was over.
 */
function mayHaveBrought(partition: TopicOracle, poll: Commit, offset: number): boolean {
  if (poll.isRefused) return false;
  if (poll.offset !== undefined) return offset <= poll.offset;
  const sentMs = partition.sentMsAt(offset);
  return sentMs !== undefined && sentMs <= (poll.lostMs ?? Number.POSITIVE_INFINITY) + POLL_LATE_MAX_MS;
}
