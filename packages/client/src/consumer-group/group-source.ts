import { ErrorCode, isCodedError } from "@millrace/errors";
import type { Clock } from "@millrace/platform";
import { PARTITION_NOT_OWNED } from "@millrace/protocol";
import type { BatchSource } from "../consumer/batch-source.ts";
import { type ConsumerEvents, skippedFacts } from "../consumer/consumer-events.ts";
import { IdleWait } from "../consumer/idle-wait.ts";
import { isOutOfTime } from "../consumer/out-of-time.ts";
import type { PartitionCursor } from "../consumer/partition-cursor.ts";
import { PartitionTurns } from "../consumer/partition-turns.ts";
import type { PolledMessages, PollStart } from "../messages/poll.ts";
import type { ReceivedMessage } from "../messages/received-message.ts";
import type { GroupEventFacts } from "./group-events.ts";
import type { Membership } from "./membership.ts";
import type { StallWatch } from "./stall-watch.ts";
import { Tenure } from "./tenure.ts";

/** Where a group consumer's messages come from. */
export interface GroupSourceOptions {
  readonly clock: Clock;
  readonly membership: Membership;
  readonly events: ConsumerEvents<GroupEventFacts>;
  readonly stallWatch: StallWatch;
  /** Where a partition begins for which the group has no stored offset. */
  readonly startAt: PollStart;
  readonly countMax: number;
  readonly pollIntervalMs: number;
  readonly syncIntervalMs: number;
  /** Polls the next batch while the last one is worked on. */
  readonly pollsAhead: boolean;
  readonly poll: (partitionId: number, start: PollStart, count: number) => Promise<PolledMessages>;
  /** The group's stored offset of a partition. */
  readonly storedOffset: (partitionId: number) => Promise<number | undefined>;
  /** True once the client has ended: nothing comes any more. */
  readonly isEnded: () => boolean;
  /** A partition is to be given up: what is settled of it is to be stored now. */
  readonly onGivingUp: (tenure: Tenure) => void;
  /** A partition was emptied: what is settled of it is of no use. */
  readonly onRestarted: (partitionId: number) => void;
}

interface Batch {
  readonly tenure: Tenure;
  readonly messages: readonly ReceivedMessage[];
}

/** What one look brought: a batch, an error, or nothing because the source was stopped. */
type Found = Batch | { readonly error: unknown } | undefined;

/** Answers that only say: ask the server again what this member may read. */
const OUT_OF_DATE: ReadonlySet<number> = new Set<number>([
  ErrorCode.PartitionNotFound,
  ErrorCode.ConsumerGroupMemberNotFound,
  ErrorCode.ConsumerGroupPartitionNotOwned,
]);

/**
 * Polls the partitions a member owns in turn. Asks the server regularly, and whenever an answer says so,
 * which ones these are; joins again when it is a member no more. A partition that is taken away is polled no
 * more, but what was polled of it is still handed out, unless a commit was refused.
 */
export class GroupSource implements BatchSource {
  readonly #options: GroupSourceOptions;
  readonly #idle: IdleWait;
  readonly #turns: PartitionTurns;
  readonly #tenures = new Map<number, Tenure>();
  /** Emptied partitions: everything in them is new. */
  readonly #restarted = new Set<number>();
  #order: readonly Tenure[] = [];
  #generation = -1;
  #nextSyncMs = 0;
  #emptyCount = 0;
  #isStopped = false;
  #ahead: Promise<Found> | undefined;
  #current: Tenure | undefined;

  constructor(options: GroupSourceOptions) {
    this.#options = options;
    this.#idle = new IdleWait(options.clock, options.pollIntervalMs);
    this.#turns = new PartitionTurns(options.clock, (facts) => options.events.emit("refused", facts));
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get isBatchLost(): boolean {
    return this.#current?.isLost === true;
  }

  get isGivingUp(): boolean {
    return this.#current?.isOwn === false && !this.#current.isLost;
  }

  /** Partitions it may poll as of the last sync. */
  get partitions(): readonly number[] {
    return this.#order.map(({ partitionId }) => partitionId);
  }

  async nextBatch(): Promise<readonly ReceivedMessage[] | undefined> {
    if (this.#current?.isOwn === false) this.#options.onGivingUp(this.#current);
    this.#current = undefined;
    while (!this.#isStopped) {
      const looking = this.#ahead ?? this.#look();
      this.#ahead = undefined;
      const found = await looking;
      if (this.#isStopped || found === undefined) return undefined;
      if ("error" in found) throw found.error;
      if (found.tenure.isLost) continue;
      this.#current = found.tenure;
      if (this.#options.pollsAhead) this.#ahead = this.#look();
      return found.messages;
    }
    return undefined;
  }

  stop(): void {
    this.#isStopped = true;
    this.#idle.wake();
  }

  /** The tenure of a partition, while it lasts. */
  tenureOf(partitionId: number): Tenure | undefined {
    return this.#tenures.get(partitionId);
  }

  /** Notes a commit; with the last one a partition that was taken away is done with. */
  stored(partitionId: number, offset: number): void {
    const tenure = this.#tenures.get(partitionId);
    tenure?.stored(offset);
    if (tenure?.isOwn === false && tenure.isSettled) this.#tenures.delete(partitionId);
  }

  /** A commit was refused: the partition has another owner. */
  lose(partitionId: number): void {
    const tenure = this.#tenures.get(partitionId);
    if (tenure === undefined) return;
    this.#end(tenure);
    this.#nextSyncMs = 0;
  }

  /** The partition was emptied and counts from 0 again: it is read from its beginning. */
  restart(partitionId: number): void {
    const tenure = this.#tenures.get(partitionId);
    if (tenure === undefined) return;
    this.#restarted.add(partitionId);
    this.#options.onRestarted(partitionId);
    const expectedOffset = tenure.expectedOffset === undefined ? undefined : BigInt(tenure.expectedOffset);
    this.lose(partitionId);
    this.#options.events.emit("restarted", { partitionId, expectedOffset });
  }

  /** Never rejects. */
  async #look(): Promise<Found> {
    while (!this.#isStopped) {
      try {
        if (this.#options.clock.monotonicMs() >= this.#nextSyncMs) await this.#sync();
        const batch = await this.#pollInTurn();
        if (batch !== undefined) return batch;
        if (this.#emptyCount >= this.#order.length) await this.#idleRound();
      } catch (error) {
        if (!this.#isPassing(error)) return { error };
        this.#nextSyncMs = 0;
        await this.#wait();
      }
    }
    return undefined;
  }

  /**
   * A request that ran out of time is no news while the client lives: it is making its connection again. A
   * join that may have happened is followed by a sync, which tells.
   */
  #isPassing(error: unknown): boolean {
    if (!isCodedError(error)) return false;
    if (OUT_OF_DATE.has(error.code)) return true;
    return isOutOfTime(error) && !this.#options.isEnded();
  }

  async #idleRound(): Promise<void> {
    this.#emptyCount = 0;
    if (this.#isStopped) return;
    await this.#options.stallWatch.look(new Set(this.partitions));
    await this.#wait();
  }

  async #wait(): Promise<void> {
    if (!this.#isStopped) await this.#idle.wait();
  }

  async #pollInTurn(): Promise<Batch | undefined> {
    const tenure = this.#turns.next(this.#order);
    if (tenure === undefined) return undefined;
    const { partitionId } = tenure;
    this.#emptyCount += 1;
    const polled = await this.#turns.unlessRefused(partitionId, () => this.#poll(tenure));
    if (polled === undefined) {
      this.#nextSyncMs = 0;
      return undefined;
    }
    if (polled.partitionId === PARTITION_NOT_OWNED) {
      await this.#sync();
      return undefined;
    }
    const { messages } = polled;
    const currentOffset = Number(polled.currentOffset);
    if (messages.length === 0 && currentOffset + 1 < (tenure.expectedOffset ?? 0)) {
      this.restart(partitionId);
      return undefined;
    }
    this.#noteSkipped(tenure, messages, tenure.advance({ messages, currentOffset }));
    if (messages.length === 0) return undefined;
    this.#emptyCount = 0;
    this.#idle.reset();
    this.#options.stallWatch.reset();
    return { tenure, messages };
  }

  async #poll(tenure: Tenure): Promise<PolledMessages> {
    const { poll, countMax } = this.#options;
    const cursor = tenure.cursor ?? (await this.#findStart(tenure));
    return poll(tenure.partitionId, cursor.start, cursor.countOf(countMax));
  }

  #noteSkipped(tenure: Tenure, [first]: readonly ReceivedMessage[], expected: number | undefined): void {
    if (first === undefined || expected === undefined) return;
    this.#options.events.emit("skipped", skippedFacts(tenure.partitionId, expected, first.offset));
  }

  async #sync(): Promise<void> {
    const { clock, membership, syncIntervalMs, events } = this.#options;
    this.#nextSyncMs = clock.monotonicMs() + syncIntervalMs;
    let assignment = await membership.sync();
    if (assignment === undefined) {
      for (const tenure of this.#tenures.values()) this.#end(tenure);
      await membership.join();
      assignment = await membership.sync();
    }
    const { generation, partitions } = assignment ?? { generation: -1, partitions: [] };
    if (assignment === undefined) this.#nextSyncMs = 0;
    if (generation === this.#generation && partitions.length === this.#order.length) return;
    await this.#adopt(partitions);
    this.#generation = generation;
    events.emit("rebalanced", { generation, partitions: this.partitions });
  }

  async #adopt(partitions: readonly number[]): Promise<void> {
    const own = new Set(partitions);
    for (const tenure of this.#tenures.values()) if (!own.has(tenure.partitionId)) this.#giveUp(tenure);
    await Promise.all(partitions.map((partitionId) => this.#begin(partitionId)));
    this.#order = partitions.flatMap((partitionId) => this.#tenures.get(partitionId) ?? []);
    this.#emptyCount = 0;
  }

  #giveUp(tenure: Tenure): void {
    tenure.isOwn = false;
    if (tenure.isSettled) this.#tenures.delete(tenure.partitionId);
    else this.#options.onGivingUp(tenure);
  }

  /** A partition that comes back before everything of it was committed goes on where it was. */
  async #begin(partitionId: number): Promise<void> {
    const before = this.#tenures.get(partitionId);
    if (before !== undefined) {
      before.isOwn = true;
      return;
    }
    const tenure = new Tenure(partitionId);
    this.#tenures.set(partitionId, tenure);
    await this.#turns.unlessRefused(partitionId, () => this.#findStart(tenure));
  }

  async #findStart(tenure: Tenure): Promise<PartitionCursor> {
    const stored = await this.#options.storedOffset(tenure.partitionId);
    const startAt = this.#restarted.delete(tenure.partitionId) ? "first" : this.#options.startAt;
    return tenure.begin(startAt, stored);
  }

  #end(tenure: Tenure): void {
    tenure.isLost = true;
    this.#tenures.delete(tenure.partitionId);
    this.#order = this.#order.filter((one) => one !== tenure);
    this.#generation = -1;
  }
}
