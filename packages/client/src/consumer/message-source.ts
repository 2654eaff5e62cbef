import type { Clock } from "@millrace/platform";
import type { PollStart } from "../messages/poll.ts";
import type { ReceivedMessage } from "../messages/received-message.ts";
import type { BatchSource } from "./batch-source.ts";
import type { RefusedFacts } from "./consumer-events.ts";
import { IdleWait } from "./idle-wait.ts";
import { isOutOfTime } from "./out-of-time.ts";
import { PartitionCursor, type Polled } from "./partition-cursor.ts";
import { PartitionTurns } from "./partition-turns.ts";

/** How often a consumer of all partitions looks whether there are new ones. */
const PARTITIONS_REFRESH_MS = 30_000;

/** Where messages come from. */
export interface MessageSourceOptions {
  readonly clock: Clock;
  readonly startAt: PollStart;
  readonly countMax: number;
  readonly pollIntervalMs: number;
  /** Polls the next batch while the last one is worked on. */
  readonly pollsAhead: boolean;
  /**
   * The partitions to read now; asked at the start and, when `areFixed` is false, again from time to time.
   */
  readonly listPartitions: () => Promise<readonly number[]>;
  readonly areFixed: boolean;
  readonly poll: (partitionId: number, start: PollStart, count: number) => Promise<Polled>;
  /** The consumer's stored offset of a partition, asked once when it is read from there on. */
  readonly storedOffset: (partitionId: number) => Promise<number | undefined>;
  /** Messages before the one that was found, from the expected offset on, are gone. */
  readonly onSkipped: (partitionId: number, expected: number, foundOffset: bigint) => void;
  /** The server was there and refused to have the partition read; the others are read on. */
  readonly onRefused: (facts: RefusedFacts) => void;
  /** The partition's log begins again: what was settled before is about messages that are gone. */
  readonly onRestart: (partitionId: number) => void;
  /** True once the client has ended: nothing comes any more. */
  readonly isEnded: () => boolean;
}

/** What one look brought: messages, an error, or nothing because the source was stopped. */
type Found = { readonly messages: readonly ReceivedMessage[] } | { readonly error: unknown } | undefined;

/**
 * Polls partitions in turn, one batch after another. Each partition is in order; an idle round is followed
 * by a wait that grows. Errors come out where the batch would have, never as an unhandled rejection.
 */
export class MessageSource implements BatchSource {
  readonly #options: MessageSourceOptions;
  readonly #idle: IdleWait;
  readonly #turns: PartitionTurns;
  /** Nobody else reads for this consumer. */
  readonly isBatchLost = false;
  readonly isGivingUp = false;
  #cursors: PartitionCursor[] | undefined;
  /** Cursors whose stored offset was asked for. */
  readonly #begun = new WeakSet<PartitionCursor>();
  #listedMs = 0;
  #emptyCount = 0;
  #isStopped = false;
  #ahead: Promise<Found> | undefined;

  constructor(options: MessageSourceOptions) {
    this.#options = options;
    this.#idle = new IdleWait(options.clock, options.pollIntervalMs);
    this.#turns = new PartitionTurns(options.clock, options.onRefused);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The next messages of some partition; undefined once stopped. Throws the errors of polls. */
  async nextBatch(): Promise<readonly ReceivedMessage[] | undefined> {
    const looking = this.#ahead ?? this.#look();
    this.#ahead = undefined;
    const found = await looking;
    if (this.#isStopped || found === undefined) return undefined;
    if ("error" in found) throw found.error;
    if (this.#options.pollsAhead) this.#ahead = this.#look();
    return found.messages;
  }

  /** Ends waits and further polls. What a poll in flight brings is dropped. */
  stop(): void {
    this.#isStopped = true;
    this.#idle.wake();
  }

  /** Never rejects. */
  async #look(): Promise<Found> {
    while (!this.#isStopped) {
      try {
        const cursors = await this.#currentCursors();
        const messages = await this.#pollInTurn(cursors);
        if (messages.length > 0) return { messages };
        if (this.#emptyCount >= cursors.length) await this.#idleRound();
      } catch (error) {
        // A poll that ran out of time is no news while the client lives: it is making its connection again.
        if (isOutOfTime(error) && !this.#options.isEnded()) continue;
        return { error };
      }
    }
    return undefined;
  }

  async #pollInTurn(cursors: readonly PartitionCursor[]): Promise<readonly ReceivedMessage[]> {
    const cursor = this.#turns.next(cursors);
    if (cursor === undefined) {
      this.#emptyCount = 0;
      return [];
    }
    const { partitionId } = cursor;
    this.#emptyCount += 1;
    const polled = await this.#turns.unlessRefused(partitionId, () => this.#poll(cursor));
    if (polled === undefined) return [];
    const { isRestarted, skippedFrom } = cursor.advance(polled);
    if (isRestarted) this.#options.onRestart(partitionId);
    const { messages } = polled;
    const [first] = messages;
    if (first !== undefined && skippedFrom !== undefined)
      this.#options.onSkipped(partitionId, skippedFrom, first.offset);
    if (messages.length === 0) return [];
    this.#emptyCount = 0;
    this.#idle.reset();
    return messages;
  }

  async #poll(cursor: PartitionCursor): Promise<Polled> {
    const { poll, countMax } = this.#options;
    if (cursor.start === "next" && !this.#begun.has(cursor)) await this.#expectStored(cursor);
    return poll(cursor.partitionId, cursor.start, cursor.countOf(countMax));
  }

  /** Without a stored offset every message is as good a first one as any other. */
  async #expectStored(cursor: PartitionCursor): Promise<void> {
    const stored = await this.#options.storedOffset(cursor.partitionId);
    if (stored !== undefined) cursor.expect(stored + 1);
    this.#begun.add(cursor);
  }

  async #currentCursors(): Promise<readonly PartitionCursor[]> {
    const { clock, areFixed, listPartitions, startAt } = this.#options;
    const isFresh = areFixed || clock.monotonicMs() - this.#listedMs < PARTITIONS_REFRESH_MS;
    if (this.#cursors !== undefined && isFresh) return this.#cursors;
    const partitionIds = await listPartitions();
    this.#listedMs = clock.monotonicMs();
    const known = new Map(this.#cursors?.map((cursor) => [cursor.partitionId, cursor]));
    // A partition that appears later is read from its beginning, whatever the start of the others was.
    const start = this.#cursors === undefined || startAt === "next" ? startAt : "first";
    this.#cursors = partitionIds.map((id) => known.get(id) ?? new PartitionCursor(id, start));
    return this.#cursors;
  }

  /** Waits a little, longer each time, until something comes or the source is stopped. */
  async #idleRound(): Promise<void> {
    this.#emptyCount = 0;
    if (!this.#isStopped) await this.#idle.wait();
  }
}
