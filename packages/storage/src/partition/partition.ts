import { assert, CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import {
  baseOffsetAt,
  baseTimestampAt,
  batchChecksumAt,
  type Lease,
  messageCountAt,
} from "@millrace/framing";
import { SegmentIndexes } from "../index-file/segment-indexes.ts";
import type { PartitionIdentity } from "../op-record/checkpoint.ts";
import type { OpHeader } from "../op-record/op-header.ts";
import { decodeSmallOperation } from "../op-record/small-operation.ts";
import type { RepairReport } from "../recovery/repair-damage.ts";
import { describeState, type StateDescription } from "../replication/describe-state.ts";
import { PrepareReader, type StoredPrepare } from "../replication/prepare-reader.ts";
import { type RememberedRequest, rememberedOperation } from "../requests/remembered-request.ts";
import type { ReadHandles } from "../segment/read-handles.ts";
import { Tail } from "../tail-cache/tail.ts";
import type { VerifyStep } from "../verification/tally.ts";
import { type VerifyRequest, verifyStep } from "../verification/verify-step.ts";
import type { Commits } from "./commits.ts";
import type { ConsumerOffsets, StoredOffset } from "./consumer-offsets.ts";
import type { GroupWriter } from "./group-writer.ts";
import type { OpEntry } from "./op-entry.ts";
import type { PartitionOptions } from "./partition-options.ts";
import { PartitionReader, type ReadDone, type ReadRequest } from "./partition-reader.ts";
import type { PartitionState } from "./partition-state.ts";
import { rememberedSend, storedInstead } from "./stored-form.ts";

/**
 * A segment that will not change any more. Offsets are inclusive, `length` bytes of `.log`, the time micros.
 */
export interface SealedSegment {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly length: number;
  readonly lastTimestamp: number;
}

/** The pieces `openPartition` puts together. */
export interface PartitionParts {
  readonly options: PartitionOptions;
  readonly state: PartitionState;
  readonly commits: Commits;
  readonly handles: ReadHandles;
  /** Nothing for a partition that must not be written. */
  readonly writer: GroupWriter | undefined;
  readonly repaired: RepairReport | undefined;
}

/** Called once per op, in op order: without an error once the op is as safe as the topic asks for. */
export type AppendDone = (error?: CodedError) => void;

/** What an append may say about its batch besides its header. */
export interface BatchFacts {
  /**
   * The batch as it was sent and stamped, when the one to be stored is encrypted: what is cached and served
   * from memory.
   */
  readonly clearLease?: Lease | undefined;
  /** The client's number stands for this request alone, so it is remembered and a repetition is known. */
  readonly isNumbered?: boolean;
}

const NO_FACTS: BatchFacts = {};

/**
 * One partition: a journal of ops, the messages in it, the offsets stored in it.
 *
 * An op is accepted (numbers move at once), journaled (`done`), then committed by the owner (visible).
 * Offsets and ops are numbers below 2^53. After a fault appends are refused and what is good stays readable.
 */
export class Partition {
  /** What a repair did when the partition was opened with `repair` and needed one. */
  readonly repaired: RepairReport | undefined;
  readonly #options: PartitionOptions;
  readonly #state: PartitionState;
  readonly #commits: Commits;
  readonly #writer: GroupWriter | undefined;
  readonly #handles: ReadHandles;
  readonly #reader: PartitionReader;
  readonly #prepares: PrepareReader;
  /** Tails by generation: between a purge and its commit there are two. */
  readonly #tails = new Map<number, Tail>();
  #closing: Promise<void> | undefined;
  /** The step of a verification or the read of an op under way, or the last one. */
  #inspection: Promise<unknown> = Promise.resolve();

  constructor(parts: PartitionParts) {
    const { options, state } = parts;
    this.repaired = parts.repaired;
    this.#options = options;
    this.#state = state;
    this.#commits = parts.commits;
    this.#writer = parts.writer;
    this.#handles = parts.handles;
    this.#reader = new PartitionReader({
      state,
      kernel: options.kernel,
      pool: options.pool,
      validateChecksums: options.validateChecksums,
      batchCipher: options.batchCipher,
      indexes: new SegmentIndexes(options.disk, options.kernel, state),
      handles: parts.handles,
      tail: () => this.#tail(state.visibleGeneration),
    });
    const { kernel, pool } = options;
    this.#prepares = new PrepareReader({ kernel, pool, state, handles: parts.handles });
    options.tailCache.servePool(options.pool);
  }

  get identity(): PartitionIdentity {
    return this.#state.identity;
  }

  /** Last accepted op; 0 before the first. */
  get lastOp(): number {
    return this.#state.accepted.op;
  }

  get lastOpChecksum(): bigint {
    return this.#state.accepted.opChecksum;
  }

  get lastView(): number {
    return this.#state.accepted.view;
  }

  /** Timestamp of the last accepted op, micros: the next one must not be below. */
  get lastTimestamp(): number {
    return this.#state.accepted.timestamp;
  }

  /** Oldest retained offset; equal to `committedNextOffset` when there is no message. */
  get firstOffset(): number {
    return this.#state.firstOffset;
  }

  /** Base offset the next batch must have. */
  get nextOffset(): number {
    return this.#state.accepted.nextOffset;
  }

  /** First offset that cannot be read yet. */
  get committedNextOffset(): number {
    return this.#state.committedNextOffset;
  }

  get committedOp(): number {
    return this.#state.committedOp;
  }

  /**
   * True while it tells things as they are once ops are committed that are not, which a start may find them
   * to be: stored offsets, remembered requests, what a purge or a truncation has taken away.
   */
  get isAhead(): boolean {
    return this.#state.committedOp < this.#state.adoptedOp;
  }

  /** Committed messages that are retained. */
  get messageCount(): number {
    const { visible, committedNextOffset } = this.#state;
    return visible.reduce(
      (sum, { firstOffset, endOffset }) =>
        sum + Math.max(0, Math.min(endOffset, committedNextOffset) - firstOffset),
      0,
    );
  }

  /** Bytes of `.log` retained. */
  get byteLength(): number {
    return this.#state.visible.reduce((sum, segment) => sum + segment.logLength, 0);
  }

  /** Segments, the active one included. */
  get segmentCount(): number {
    return Math.max(1, this.#state.visible.length);
  }

  /** Purges that were accepted, committed or not: the number of the last one. */
  get purgeGeneration(): number {
    return this.#state.accepted.generation;
  }

  /** The number of the last purge that is committed; while it `isAhead` perhaps of one that is not. */
  get committedPurgeGeneration(): number {
    return this.#state.visibleGeneration;
  }

  /** Why appends are refused: `PartitionDamaged`, `FileFenced` or what may pass; nothing when all is well. */
  get fault(): CodedError | undefined {
    return this.#state.fault;
  }

  /**
   * Journals a batch that was verified and stamped: its base offset is `nextOffset` (a backup may leave a
   * hole), its base timestamp the header's. Retains the lease until the batch is written and while it is
   * cached.
   */
  appendBatch(header: OpHeader, batchLease: Lease, done: AppendDone, facts: BatchFacts = NO_FACTS): void {
    const { clearLease, isNumbered } = facts;
    const { accepted } = this.#state;
    const { position } = batchLease;
    assert(position >= 0, "a batch lies in the kernel's memory");
    const { kernel, pool, tailCache, batchCipher } = this.#options;
    assert((clearLease === undefined) === (batchCipher === undefined), "what is cached is never encrypted");
    const { view } = kernel.memory;
    const baseOffset = baseOffsetAt(view, position);
    const count = messageCountAt(view, position);
    assert(baseOffset >= accepted.nextOffset, "a batch does not reuse offsets");
    assert(baseTimestampAt(view, position) === header.timestamp, "a batch carries the time of its op");
    if (this.#refuses(header, done)) return;
    const endOffset = baseOffset + count;
    const { timestamp } = header;
    const tail = this.#tail(accepted.generation);
    const lease = clearLease ?? batchLease;
    const kept = tailCache.keep(pool, kernel.memory, { tail, lease, baseOffset, endOffset, timestamp });
    const { length } = batchLease;
    const checksum = batchChecksumAt(view, position);
    const place = clearLease === undefined ? kept : storedInstead(kept, batchLease);
    const { lease: heldLease, position: at } = place;
    const batch = { lease: heldLease, position: at, length, baseOffset, count, timestamp, checksum };
    const request = isNumbered === true ? rememberedSend(header, batch, clearLease) : undefined;
    const { generation } = accepted;
    this.#accept({ header, generation, endOffset, batch, small: undefined, request, done });
  }

  /**
   * Journals a small op: store or delete an offset, truncate, purge. The body is copied.
   * @param isNumbered  as in `BatchFacts`
   * @throws CodedError `InvalidCommand` when the body does not decode; nothing was accepted then
   */
  appendOperation(header: OpHeader, body: Uint8Array, done: AppendDone, isNumbered = false): void {
    const operation = decodeSmallOperation(header.operation, body);
    const { accepted } = this.#state;
    const isPurge = operation.kind === "purge";
    assert(!isPurge || operation.generation > accepted.generation, "a purge moves the generation forward");
    if (this.#refuses(header, done)) return;
    this.#accept({
      header,
      generation: isPurge ? operation.generation : accepted.generation,
      endOffset: isPurge ? 0 : accepted.nextOffset,
      batch: undefined,
      small: { body: body.slice(), operation },
      request: isNumbered ? rememberedOperation(header, body) : undefined,
      done,
    });
  }

  /**
   * Makes journaled ops up to `op` visible, in op order; ops that are not journaled yet follow when they are.
   */
  commit(op: number): void {
    this.#commits.commit(op);
  }

  /**
   * Reads committed messages from an offset or a time on. Calls back before it returns when memory holds
   * them. Errors: `PartitionDamaged` with file and position, `FrameTooLarge` when not even one message fits
   * `lengthMax`, `MemoryExhausted`, `IoError`.
   */
  read(request: ReadRequest, done: ReadDone): void {
    this.#reader.read(request, done);
  }

  /**
   * Checks a stretch of what is journaled, see `verifyStep`; one step at a time, the others wait for it.
   * @throws CodedError what the disk answers; `ShuttingDown` once the partition is closed
   */
  verify(request: VerifyRequest): Promise<VerifyStep> {
    const { kernel, pool } = this.#options;
    return this.#inspect(() =>
      verifyStep({ kernel, pool, state: this.#state, handles: this.#handles }, request),
    );
  }

  /**
   * Describes the committed state, for a replica that lacks too much, see `describeState`.
   * @throws CodedError the fault; what the disk answers; `ShuttingDown` once the partition is closed
   */
  describeState(): Promise<StateDescription | undefined> {
    const { kernel } = this.#options;
    return this.#inspect(() => describeState({ kernel, state: this.#state, handles: this.#handles }));
  }

  /**
   * Reads a journaled op back, for a replica that lacks it, see `PrepareReader`. One at a time.
   * @throws CodedError `PartitionDamaged`; what the disk answers; `ShuttingDown` once the partition is closed
   */
  readPrepare(op: number): Promise<StoredPrepare | undefined> {
    return this.#inspect(() => this.#prepares.read(op));
  }

  #inspect<Result>(look: () => Promise<Result>): Promise<Result> {
    const result = this.#inspection.then(() => {
      if (this.#closing !== undefined) throw shuttingDown();
      return look();
    });
    this.#inspection = result.catch(() => undefined);
    return result;
  }

  /**
   * Why stored offsets cannot be told: records of this partition are damaged or gone that may have changed
   * them. Everything that asks for stored offsets throws it.
   */
  get offsetsFault(): CodedError | undefined {
    return this.#state.offsetsFault;
  }

  /** Committed offset of a consumer (1) or group (2). @throws CodedError `offsetsFault` */
  consumerOffset(kind: 1 | 2, id: number): number | undefined {
    return this.#offsets().get(kind, id);
  }

  /** Consumers or groups with a committed offset. @throws CodedError `offsetsFault` */
  consumerOffsetIds(kind: 1 | 2): number[] {
    return [...this.#offsets().all()].filter(({ consumerKind }) => consumerKind === kind).map(({ id }) => id);
  }

  /** How many consumers or groups have a committed offset. @throws CodedError `offsetsFault` */
  consumerOffsetCount(kind: 1 | 2): number {
    return this.#offsets().count(kind);
  }

  /**
   * True when an offset of this key may be stored: after every accepted op it is there already, or there is
   * room.
   * @throws CodedError `offsetsFault`
   */
  mayStoreConsumerOffset(kind: 1 | 2, id: number): boolean {
    const offsets = this.#offsets();
    const { uncommitted, accepted } = this.#state;
    if (this.#state.acceptedOffset(kind, id) !== undefined) return true;
    const { consumerOffsetsMax } = this.#options;
    if (offsets.count(kind) + uncommitted.length < consumerOffsetsMax) return true;
    return this.#state.offsetsAfter(accepted.op).count(kind) < consumerOffsetsMax;
  }

  /**
   * Offset of a consumer (1) or group (2) as it is after every accepted op, committed or not: what the next
   * op must respect.
   * @throws CodedError `offsetsFault`
   */
  acceptedConsumerOffset(kind: 1 | 2, id: number): number | undefined {
    this.#offsets();
    return this.#state.acceptedOffset(kind, id);
  }

  /**
   * Offsets of all consumers and groups as they are after every accepted op, committed or not: what the next
   * op must respect.
   * @throws CodedError `offsetsFault`
   */
  acceptedConsumerOffsets(): readonly StoredOffset[] {
    this.#offsets();
    return [...this.#state.offsetsAfter(this.#state.accepted.op).all()];
  }

  /** A committed request whose number was its client's own, while it is remembered. */
  rememberedRequest(client: bigint, user: number, number: bigint): RememberedRequest | undefined {
    return this.#state.requests.find(client, user, number);
  }

  /** Sealed segments, oldest first. */
  sealedSegments(): readonly SealedSegment[] {
    const { visible, active } = this.#state;
    return visible
      .filter((segment) => segment !== active)
      .map(({ firstOffset, endOffset, logLength, lastTimestamp }) => ({
        firstOffset,
        lastOffset: endOffset - 1,
        length: logLength,
        lastTimestamp,
      }));
  }

  /**
   * Makes the journal itself say how far it is committed: a start then asks nobody. @throws CodedError what
   * the disk answers
   */
  async markCommit(): Promise<void> {
    await this.#writer?.markCommit();
  }

  /** Settles when the files of every segment that was taken away so far are gone, or could not be removed. */
  filesRemoved(): Promise<void> {
    return this.#commits.idle();
  }

  /**
   * True when it takes no writes because the disk refused something while it was opened: opening it anew may
   * help, as a restart does.
   */
  get isHalfOpen(): boolean {
    const { fault } = this.#state;
    const isTakingWrites = this.#writer !== undefined || fault === undefined;
    return !isTakingWrites && !isCodedError(fault, ErrorCode.PartitionDamaged);
  }

  /**
   * Tries to go on after a fault that may pass (`DiskFull`; `IoError` for want of a file handle); true when
   * appends are taken again. Call it when it may have passed.
   * Ops whose `done` brought the error are not in the journal: `lastOp` and `nextOffset` stand before them.
   *
   * @param forRemoval  a truncation or a purge comes next, which frees space: it is tried whatever is free
   */
  async resume(forRemoval = false): Promise<boolean> {
    return this.#writer === undefined ? false : this.#writer.resume(forRemoval);
  }

  /** Writes what is queued and the mark of a clean close, and lets go of all memory. Can be called again. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#reader.close();
    await this.#inspection;
    await this.#writer?.idle();
    await this.#commits.idle();
    try {
      await this.#writer?.close();
    } finally {
      for (const tail of this.#tails.values()) this.#options.tailCache.drop(tail);
      await this.#handles.closeAll();
    }
  }

  /** Memory of generations before `generation` goes: a purge took effect. */
  forgetBefore(generation: number): void {
    for (const [older, tail] of this.#tails) {
      if (older >= generation) continue;
      this.#options.tailCache.drop(tail);
      this.#tails.delete(older);
    }
  }

  /** Ops that were accepted but not journaled are forgotten, and the cached batches with them. */
  rollBack(): void {
    const state = this.#state;
    state.accepted = { ...state.journaled };
    state.uncommitted = state.uncommitted.filter((entry) => entry.header.op <= state.journaled.op);
    for (const tail of this.#tails.values()) this.#options.tailCache.drop(tail);
    this.#tails.clear();
  }

  #offsets(): ConsumerOffsets {
    const { offsets, offsetsFault } = this.#state;
    if (offsetsFault !== undefined) throw offsetsFault;
    return offsets;
  }

  #tail(generation: number): Tail {
    let tail = this.#tails.get(generation);
    if (tail === undefined) {
      tail = new Tail();
      this.#tails.set(generation, tail);
    }
    return tail;
  }

  /** Checks what every op must meet; calls back later with the reason when the partition takes none. */
  #refuses(header: OpHeader, done: AppendDone): boolean {
    const { accepted, fault } = this.#state;
    const refusal = this.#closing === undefined ? fault : shuttingDown();
    if (this.#writer === undefined || refusal !== undefined) {
      queueMicrotask(() => done(refusal ?? readOnly()));
      return true;
    }
    assert(header.op === accepted.op + 1, "ops are appended in order");
    assert(header.parent === accepted.opChecksum, "an op names the one before it as its parent");
    assert(header.timestamp >= accepted.timestamp, "time does not step back within a partition");
    return false;
  }

  #accept(entry: OpEntry): void {
    const { accepted, uncommitted } = this.#state;
    accepted.op = entry.header.op;
    accepted.opChecksum = entry.header.checksum;
    accepted.view = entry.header.view;
    accepted.timestamp = entry.header.timestamp;
    accepted.nextOffset = entry.endOffset;
    accepted.generation = entry.generation;
    uncommitted.push(entry);
    this.#writer?.submit(entry);
  }
}

function readOnly(): CodedError {
  return new CodedError(ErrorCode.InvalidArgument, "The partition was opened read-only.");
}

function shuttingDown(): CodedError {
  return new CodedError(ErrorCode.ShuttingDown, "The partition is closed.");
}
