import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import type { BatchCipher } from "../encryption/batch-cipher.ts";
import type { SegmentIndexes } from "../index-file/segment-indexes.ts";
import { damaged } from "../recovery/damage.ts";
import type { ReadHandles } from "../segment/read-handles.ts";
import type { Segment } from "../segment/segment.ts";
import { firstStampedAt, takeStretch } from "../tail-cache/stretch-walk.ts";
import type { Tail, TailStretch } from "../tail-cache/tail.ts";
import type { PartitionState } from "./partition-state.ts";
import { ReadJob, type ReadResult } from "./read-job.ts";
import {
  type LostAt,
  offsetAtTimestamp,
  type WalkOutcome,
  type WalkSource,
  walkSegment,
} from "./segment-walk.ts";

/** What to read: from which message on, at most how many messages and how many bytes of batches. */
export interface ReadRequest {
  /** An offset, or a time in micros: the first batch stamped at or after it. */
  readonly from: { readonly offset: number } | { readonly timestamp: number };
  readonly count: number;
  readonly lengthMax: number;
}

/** Called once; with a result, the caller must `release` it. */
export type ReadDone = (error: CodedError | undefined, result?: ReadResult) => void;

/** What the reader works with. */
export interface ReaderOptions {
  readonly state: PartitionState;
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
  readonly validateChecksums: boolean;
  readonly batchCipher: BatchCipher | undefined;
  readonly indexes: SegmentIndexes;
  readonly handles: ReadHandles;
  /** The tail of the visible generation. */
  readonly tail: () => Tail;
}

/**
 * Serves committed messages: the recent ones from memory by reference, older ones by one read of a contiguous
 * run.
 *
 * One reply may join both; it never leaves out a message that exists between two that it holds. Damage ends a
 * reply that holds something already; the next read, which begins there, gets the error.
 */
export class PartitionReader {
  readonly #options: ReaderOptions;
  readonly #state: PartitionState;
  #isClosed = false;
  #readsUnderWay = 0;
  readonly #whenIdle: (() => void)[] = [];

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  read(request: ReadRequest, done: ReadDone): void {
    if (this.#isClosed) {
      done(new CodedError(ErrorCode.ShuttingDown, "The partition is closed."));
      return;
    }
    const offset = "offset" in request.from ? request.from.offset : this.#offsetFromTail(request.from);
    if (offset === undefined) void this.#whileReading(() => this.#readFromTime(request, done));
    else this.#readFrom(offset, request, done);
  }

  /** Refuses reads from now on; settles when those under way have come to their end. */
  close(): Promise<void> {
    this.#isClosed = true;
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#tellIdle();
    });
  }

  /** While the files are read from they stay those of this partition. */
  async #whileReading(read: () => Promise<void>): Promise<void> {
    this.#readsUnderWay += 1;
    try {
      await read();
    } finally {
      this.#readsUnderWay -= 1;
      this.#tellIdle();
    }
  }

  #tellIdle(): void {
    if (this.#readsUnderWay > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #readFrom(offset: number, request: ReadRequest, done: ReadDone): void {
    const state = this.#state;
    const range = {
      from: Math.max(offset, state.firstOffset),
      end: state.committedNextOffset,
      generation: state.visibleGeneration,
    };
    const job = new ReadJob(this.#options, range, request);
    try {
      if (this.#serveFromTail(job)) {
        this.#finish(job, done);
        return;
      }
    } catch (error) {
      this.#finishWith(error, job, done);
      return;
    }
    void this.#whileReading(() => this.#readSlowly(job, done));
  }

  async #readFromTime(request: ReadRequest, done: ReadDone): Promise<void> {
    let offset: number;
    try {
      offset = await this.#offsetFromDisk((request.from as { timestamp: number }).timestamp);
    } catch (error) {
      if (!isCodedError(error)) throw error;
      return done(error);
    }
    this.#readFrom(offset, request, done);
  }

  async #readSlowly(job: ReadJob, done: ReadDone): Promise<void> {
    try {
      while (!this.#serveFromTail(job)) {
        if (!(await this.#serveFromDisk(job))) break;
      }
    } catch (error) {
      return this.#finishWith(error, job, done);
    }
    this.#finish(job, done);
  }

  #finishWith(error: unknown, job: ReadJob, done: ReadDone): void {
    if (job.count > 0 && isCodedError(error)) {
      this.#finish(job, done);
      return;
    }
    job.release();
    if (!isCodedError(error)) throw error;
    this.#state.log.error("A read failed.", { path: this.#state.path, offset: job.next, error });
    done(error);
  }

  /** A purge that became visible meanwhile makes what was read history: nobody may take offsets from it. */
  #finish(job: ReadJob, done: ReadDone): void {
    if (job.count === 0 || job.generation === this.#state.visibleGeneration) {
      done(undefined, job);
      return;
    }
    job.release();
    const range = { from: 0, end: 0, generation: this.#state.visibleGeneration };
    done(undefined, new ReadJob(this.#options, range, { count: 0, lengthMax: 0 }));
  }

  /** Adds what the tail holds; true when the reply is complete. */
  #serveFromTail(job: ReadJob): boolean {
    while (!job.isComplete) {
      const stretch = this.#tailStretch(job);
      if (stretch?.lease === undefined) return false;
      const outcome = takeStretch(this.#options.kernel, job, stretch, stretch.lease);
      if (outcome === "no-block") return job.count > 0;
      if (outcome === "end") return true;
    }
    return true;
  }

  #tailStretch(job: ReadJob): TailStretch | undefined {
    if (job.generation !== this.#state.visibleGeneration) return undefined;
    return this.#options.tail().find(job.next);
  }

  /** Adds what one segment holds; false when there is nothing more to add now. */
  async #serveFromDisk(job: ReadJob): Promise<boolean> {
    if (job.generation !== this.#state.visibleGeneration) return false;
    const segment = this.#state.segmentAt(job.next);
    if (segment === undefined || segment.firstOffset >= job.end) return false;
    if (segment.damage !== undefined) throw segment.damage;
    job.next = Math.max(job.next, segment.firstOffset);
    const lostAt: LostAt = { position: 0 };
    const outcome = await this.#walk(segment, job, lostAt);
    if (outcome === "gone") return true;
    if (outcome !== "lost") return outcome === "served";
    throw this.#damageAt(segment, job.next, lostAt.position);
  }

  /** Walks by the sparse index, and by the op records when that leads astray. `gone`: removed meanwhile. */
  async #walk(segment: Segment, job: ReadJob, lostAt: LostAt): Promise<WalkOutcome | "gone"> {
    const { indexes } = this.#options;
    try {
      return await this.#withFile(segment, async (source) => {
        const outcome = await walkSegment(source, job, await indexes.sparse(segment), lostAt);
        return outcome === "lost" ? walkSegment(source, job, await indexes.dense(segment), lostAt) : outcome;
      });
    } catch (error) {
      if (isCodedError(error, ErrorCode.IoError) && !this.#state.segments.includes(segment)) return "gone";
      throw error;
    }
  }

  #damageAt(segment: Segment, offset: number, position: number): CodedError {
    const path = this.#state.filePath(segment, "log");
    const text = `The batch at offset ${offset} in ${path} is damaged (position ${position}).`;
    return damaged(text, { path, position, offset, partition: this.#state.path });
  }

  async #withFile<Result>(segment: Segment, use: (source: WalkSource) => Promise<Result>): Promise<Result> {
    const { kernel, pool, validateChecksums, batchCipher, handles } = this.#options;
    const { identity } = this.#state;
    const { file, done } = await handles.use(this.#state.filePath(segment, "log"));
    try {
      return await use({ kernel, pool, identity, validateChecksums, batchCipher, segment, file });
    } finally {
      done();
    }
  }

  #offsetFromTail(from: ReadRequest["from"]): number | undefined {
    const timestamp = (from as { timestamp: number }).timestamp;
    const tail = this.#options.tail();
    const stretch = tail.findTimestamp(timestamp);
    if (stretch !== undefined) return firstStampedAt(this.#options.kernel, stretch, timestamp);
    const isBehindAll = tail.last !== undefined && tail.last.lastTimestamp < timestamp;
    return isBehindAll ? this.#state.committedNextOffset : undefined;
  }

  async #offsetFromDisk(timestamp: number): Promise<number> {
    const segment = this.#state.visible.find((one) => one.lastTimestamp >= timestamp);
    if (segment === undefined) return this.#state.committedNextOffset;
    if (segment.damage !== undefined) throw segment.damage;
    return this.#withFile(segment, async (source) => {
      try {
        return await offsetAtTimestamp(source, await this.#options.indexes.sparse(segment), timestamp);
      } catch (error) {
        if (!isCodedError(error, ErrorCode.PartitionDamaged)) throw error;
        return offsetAtTimestamp(source, await this.#options.indexes.dense(segment), timestamp);
      }
    });
  }
}
