import { type CodedError, ErrorCode } from "@millrace/errors";
import type { Clock, Log, Timer } from "@millrace/platform";
import type { PartitionGroup } from "./partition-group.ts";

/** Milliseconds from a failed opening to the next try; each further one waits twice as long. */
const FIRST_DELAY_MS = 1000;
/** Longest wait of a partition, so that a disk which works again is noticed soon. */
const DELAY_MAX_MS = 60_000;
/** Shortest time between two tries of a shard, however many partitions wait: a sick disk is left in peace. */
const SPACING_MS = 50;

/** A partition that did not open, or only for reading. */
interface Failed {
  dueMs: number;
  delayMs: number;
  readonly open: () => Promise<void>;
}

/** What is answered today and may not be answered tomorrow; all else stays as it is until somebody acts. */
export function mayOpenLater({ code }: CodedError): boolean {
  return code === ErrorCode.IoError || code === ErrorCode.DiskFull || code === ErrorCode.MemoryExhausted;
}

/**
 * Opens partitions again that the disk refused to open: one at a time, the longest due first. Until a
 * partition opens, its requests are answered with the code of the last try. One that opened for reading only
 * goes on serving that until its turn comes.
 */
export class OpenRetries {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #failed = new Map<PartitionGroup, Failed>();
  #timer: Timer | undefined;
  #notBeforeMs = 0;
  #underWay: Promise<void> | undefined;
  #isStopped = false;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Notes that a group did not open.
   * @param open  tries it again; that ends in `noteFailed` or `forget`
   */
  noteFailed(group: PartitionGroup, open: () => Promise<void>): void {
    const before = this.#failed.get(group)?.delayMs;
    const delayMs = before === undefined ? FIRST_DELAY_MS : Math.min(2 * before, DELAY_MAX_MS);
    this.#failed.set(group, { dueMs: this.#clock.monotonicMs() + delayMs, delayMs, open });
    this.#schedule();
  }

  /** A group is open, or will not be asked for again, or trying does not help. */
  forget(group: PartitionGroup): void {
    if (!this.#failed.delete(group) || group.partition === undefined || group.isClosed) return;
    this.#log.info("A partition that could not be opened is open now.", { ...group.identity });
  }

  /** Tries no more; settles when a try under way has come to its end. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#underWay;
  }

  #schedule(): void {
    if (this.#isStopped || this.#underWay !== undefined) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    const next = this.#longestDue()?.[1];
    if (next === undefined) return;
    const atMs = Math.max(next.dueMs, this.#notBeforeMs);
    this.#timer = this.#clock.setTimer(Math.max(0, atMs - this.#clock.monotonicMs()), () => this.#try());
  }

  #try(): void {
    const [group, failed] = this.#longestDue() ?? [];
    if (this.#isStopped || group === undefined || failed === undefined) return;
    // It may be open by now, or being opened for a repair.
    const isDue = group.partition === undefined ? group.fault !== undefined : group.partition.isHalfOpen;
    failed.dueMs += failed.delayMs;
    this.#underWay = (isDue ? failed.open() : Promise.resolve()).finally(() => {
      this.#underWay = undefined;
      this.#notBeforeMs = this.#clock.monotonicMs() + SPACING_MS;
      this.#schedule();
    });
  }

  #longestDue(): [PartitionGroup, Failed] | undefined {
    let longest: [PartitionGroup, Failed] | undefined;
    for (const one of this.#failed) {
      if (longest === undefined || one[1].dueMs < longest[1].dueMs) longest = one;
    }
    return longest;
  }
}
