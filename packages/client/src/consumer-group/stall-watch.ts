import type { Clock } from "@millrace/platform";
import type { GroupCalls, GroupPlace } from "../admin/group-calls.ts";
import type { StalledFacts } from "./group-events.ts";

/** Looks within the configured time: an event is late by a half of it at most. */
const LOOKS = 2;

/** Partitions one look asks about: a bound on the requests of a consumer that has nothing to do. */
const PARTITIONS_MAX = 256;

/** What a stall watch works with. */
export interface StallWatchOptions {
  readonly clock: Clock;
  readonly calls: GroupCalls;
  readonly place: GroupPlace;
  readonly stalledAfterMs: number;
  readonly onStalled: (facts: StalledFacts) => void;
}

interface Waiting {
  readonly stored: bigint | undefined;
  readonly sinceMs: number;
}

/**
 * Notices that nothing is read although the log holds unread messages: of a partition of this consumer, of
 * another member, or of nobody. Works only while the consumer gets nothing.
 */
export class StallWatch {
  readonly #options: StallWatchOptions;
  readonly #waiting = new Map<number, Waiting>();
  #nextMs: number;

  constructor(options: StallWatchOptions) {
    this.#options = options;
    this.#nextMs = options.clock.monotonicMs() + options.stalledAfterMs / LOOKS;
  }

  /** Messages came: whatever waited is being read. */
  reset(): void {
    this.#waiting.clear();
    this.#nextMs = this.#options.clock.monotonicMs() + this.#options.stalledAfterMs / LOOKS;
  }

  /** Looks, when it is time to. @param own  partitions this consumer reads */
  async look(own: ReadonlySet<number>): Promise<void> {
    const { clock, calls, place, stalledAfterMs } = this.#options;
    if (clock.monotonicMs() < this.#nextMs) return;
    this.#nextMs = clock.monotonicMs() + stalledAfterMs / LOOKS;
    const topic = await calls.getTopic(place.stream, place.topic);
    const filled = (topic?.partitions ?? []).filter(({ messagesCount }) => messagesCount > 0n);
    const ownFirst = filled.sort((one, other) => Number(own.has(other.id)) - Number(own.has(one.id)));
    const stalled: StalledFacts[] = [];
    for (const { id, currentOffset } of ownFirst.slice(0, PARTITIONS_MAX)) {
      const facts = await this.#check(id, currentOffset);
      if (facts !== undefined) stalled.push({ ...facts, owner: undefined, isOwn: own.has(id) });
    }
    if (stalled.length > 0) await this.#tell(stalled);
  }

  async #check(
    partitionId: number,
    logEnd: bigint,
  ): Promise<Omit<StalledFacts, "owner" | "isOwn"> | undefined> {
    const { clock, calls, place, stalledAfterMs } = this.#options;
    const { stream, topic, group } = place;
    const offset = await calls.getConsumerOffset({ stream, topic, partitionId, consumer: { group } });
    const storedOffset = offset?.storedOffset;
    const nowMs = clock.monotonicMs();
    const before = this.#waiting.get(partitionId);
    if (storedOffset !== undefined && storedOffset >= logEnd) {
      this.#waiting.delete(partitionId);
      return undefined;
    }
    if (before === undefined || before.stored !== storedOffset) {
      this.#waiting.set(partitionId, { stored: storedOffset, sinceMs: nowMs });
      return undefined;
    }
    const waitedMs = nowMs - before.sinceMs;
    if (waitedMs < stalledAfterMs) return undefined;
    return { partitionId, storedOffset, logEnd, waitedMs };
  }

  async #tell(stalled: readonly StalledFacts[]): Promise<void> {
    const group = await this.#options.calls.getConsumerGroup(this.#options.place);
    for (const facts of stalled) {
      const owner = group?.members.find(({ partitions }) => partitions.includes(facts.partitionId))?.id;
      this.#options.onStalled({ ...facts, owner });
    }
  }
}
