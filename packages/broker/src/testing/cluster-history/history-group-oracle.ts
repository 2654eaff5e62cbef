import assert from "node:assert/strict";
import type { PolledMessage } from "../test-polls.ts";
import type { TopicOracle } from "./history-oracle.ts";

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

/** What must be true of one consumer group of a topic that nobody purges. */
export class GroupOracle {
  readonly #partitions: readonly TopicOracle[];
  readonly #holders = new Map<TopicOracle, Holder>();
  /** Highest offset that anybody tried to commit. */
  readonly #tried = new Map<TopicOracle, number>();
  readonly #given = new Map<TopicOracle, Set<string>>();

  constructor(partitions: readonly TopicOracle[]) {
    this.#partitions = partitions;
  }

  get topic(): TopicOracle {
    return this.partition(0);
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
    const committed = this.#tried.get(partition) ?? -1;
    assert.ok(first <= committed + 1, `${partition.label} goes on at ${first}, ${committed} was committed`);
    const given = this.#given.get(partition) ?? new Set();
    this.#given.set(partition, given);
    for (const { text } of messages) given.add(text);
    // A node that is behind gives again what was committed elsewhere; nobody has that to commit any more.
    const firstOffset = Math.max(first, committed + 1);
    if (firstOffset > lastOffset) return;
    const before = this.#holders.get(partition);
    // A node that is behind serves who owned it before; it can commit nothing.
    if (before !== undefined && by.generation < before.generation) return;
    const isHeld = before?.isConnected() === true && by.nowMs - before.nowMs < HELD_MS;
    const isOther = before !== undefined && before.member !== by.member;
    // What lies before the next member's first message was committed, whether or not that was answered yet.
    const isGivenAgain =
      before !== undefined && firstOffset <= before.lastOffset && lastOffset >= before.firstOffset;
    assert.ok(
      !(isHeld && isOther && isGivenAgain),
      `${partition.label} is ${before?.member}'s, not ${by.member}'s`,
    );
    this.#holders.set(partition, { ...by, firstOffset, lastOffset });
  }

  committing(partition: TopicOracle, offset: number): void {
    this.#tried.set(partition, Math.max(offset, this.#tried.get(partition) ?? -1));
  }

  /** A member is done with what it was given. */
  committed(partition: TopicOracle, member: bigint): void {
    if (this.#holders.get(partition)?.member === member) this.#holders.delete(partition);
  }

  /** Messages that were acknowledged and that no member was given. */
  left(): string[] {
    return this.#partitions.flatMap((partition) => {
      const given = this.#given.get(partition);
      return [...partition.acknowledgedTexts()].filter((text) => given?.has(text) !== true);
    });
  }
}
