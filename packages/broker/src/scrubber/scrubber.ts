import { isCodedError } from "@millrace/errors";
import type { VerifyDamage, VerifyPartitionReply } from "@millrace/protocol";
import { VERIFY_FROM_START, type VerifyCursor } from "@millrace/storage";
import type { PartitionHandle } from "../partition-plane/partition-handle.ts";
import type { Shard } from "../shard.ts";

/** Bytes of one step: some milliseconds of checksums, then others get their turn. */
const STEP_LENGTH = 1_048_576;
/** Between two steps at least, so that thousands of empty partitions are not looked at in one burst. */
const STEP_PAUSE_MIN_MS = 5;
/** Damaged places that are told once each; behind that many, every pass tells them again. */
const PLACES_TOLD_MAX = 10_000;

/**
 * Verifies every record and batch of every partition in the background, one step after the other at a bounded
 * rate, so that damage is found before somebody needs what it hit: it goes to the log and the metrics by file
 * and position. A pass begins an interval after the one before began, or when that one has ended.
 *
 * Nothing is changed. Partitions that go away meanwhile are passed.
 * @returns stops scrubbing; a step under way ends by itself
 */
export function scrubPartitions(shard: Shard): () => void {
  if (!shard.config.scrubber.isEnabled) return () => {};
  const scrubber = new Scrubber(shard);
  scrubber.start();
  return () => scrubber.stop();
}

class Scrubber {
  readonly #shard: Shard;
  readonly #told = new Set<string>();
  /** Partitions this pass has not ended with yet; the last is under way. */
  #left: PartitionHandle[] = [];
  #from: VerifyCursor = VERIFY_FROM_START;
  #passBeganMs = 0;
  #timer: { cancel(): void } | undefined;
  #isStopped = false;

  constructor(shard: Shard) {
    this.#shard = shard;
  }

  start(): void {
    this.#after(this.#shard.config.scrubber.intervalMs, () => this.#beginPass());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #beginPass(): void {
    this.#passBeganMs = this.#nowMs();
    this.#left = [...this.#shard.partitions.handles()];
    this.#next();
  }

  #next(): void {
    const partition = this.#left[this.#left.length - 1];
    if (partition === undefined) {
      this.#endPartition();
      return;
    }
    partition.verify({ from: this.#from, lengthMax: STEP_LENGTH }).then(
      (step) => this.#noteStep(step),
      (error: unknown) => {
        if (!isCodedError(error)) throw error;
        this.#endPartition();
      },
    );
  }

  #noteStep(step: VerifyPartitionReply): void {
    const { metrics, config } = this.#shard;
    metrics.scrubbedBytes.add(step.bytes);
    for (const damage of step.damages) this.#tell(damage);
    if (step.next === undefined) {
      this.#endPartition(step.bytes);
      return;
    }
    this.#from = step.next;
    this.#after((step.bytes / config.scrubber.bytesPerSecond) * 1000, () => this.#next());
  }

  #endPartition(lengthRead = 0): void {
    const { intervalMs, bytesPerSecond } = this.#shard.config.scrubber;
    this.#from = VERIFY_FROM_START;
    this.#left.pop();
    if (this.#left.length > 0) {
      this.#after((lengthRead / bytesPerSecond) * 1000, () => this.#next());
      return;
    }
    this.#after(this.#passBeganMs + intervalMs - this.#nowMs(), () => this.#beginPass());
  }

  #tell(damage: VerifyDamage): void {
    const place = `${damage.path}:${damage.position}`;
    if (this.#told.has(place)) return;
    if (this.#told.size < PLACES_TOLD_MAX) this.#told.add(place);
    this.#shard.metrics.damagesFound.add(1);
    this.#shard.platform.log.error("Damage was found in a partition's files.", { ...damage });
  }

  #after(delayMs: number, action: () => void): void {
    if (this.#isStopped) return;
    this.#timer = this.#shard.platform.clock.setTimer(Math.max(STEP_PAUSE_MIN_MS, delayMs), action);
  }

  #nowMs(): number {
    return this.#shard.platform.clock.monotonicMs();
  }
}
