import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Lease } from "@millrace/framing";
import { SegmentIndexes } from "../index-file/segment-indexes.ts";
import type { PartitionIdentity } from "../op-record/checkpoint.ts";
import type { OpHeader } from "../op-record/op-header.ts";
import type { RepairReport } from "../recovery/repair-damage.ts";
import type { StateDescription } from "../replication/describe-state.ts";
import type { StoredPrepare } from "../replication/prepare-reader.ts";
import type { RememberedRequest } from "../requests/remembered-request.ts";
import type { ReadHandles } from "../segment/read-handles.ts";
import type { VerifyStep } from "../verification/tally.ts";
import type { VerifyRequest } from "../verification/verify-step.ts";
import { Appends, type BatchFacts } from "./appends.ts";
import type { Commits } from "./commits.ts";
import type { StoredOffset } from "./consumer-offsets.ts";
import type { GroupWriter } from "./group-writer.ts";
import { Inspections } from "./inspections.ts";
import { knownAcceptedOffset, knownAcceptedOffsets, knownOffsets, mayStoreOffset } from "./known-offsets.ts";
import type { AppendDone } from "./op-entry.ts";
import type { PartitionOptions } from "./partition-options.ts";
import { PartitionReader, type ReadDone, type ReadRequest } from "./partition-reader.ts";
import type { PartitionState } from "./partition-state.ts";
import { retainedLength, retainedMessages, type SealedSegment, sealedSegments } from "./retained.ts";
import { Tails } from "./tails.ts";

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
  readonly #appends: Appends;
  readonly #inspections: Inspections;
  readonly #tails: Tails;
  #closing: Promise<void> | undefined;

  constructor(parts: PartitionParts) {
    const { options, state, handles, writer } = parts;
    const { kernel, pool } = options;
    this.repaired = parts.repaired;
    this.#options = options;
    this.#state = state;
    this.#commits = parts.commits;
    this.#writer = writer;
    this.#handles = handles;
    this.#tails = new Tails(options.tailCache);
    this.#appends = new Appends({ options, state, writer, tails: this.#tails });
    this.#inspections = new Inspections({ kernel, pool, state, handles });
    this.#reader = new PartitionReader({
      ...{ state, kernel, pool, handles },
      validateChecksums: options.validateChecksums,
      batchCipher: options.batchCipher,
      indexes: new SegmentIndexes(options.disk, kernel, state),
      tail: () => this.#tails.of(state.visibleGeneration),
    });
    options.tailCache.servePool(pool);
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
    return retainedMessages(this.#state);
  }

  /** Bytes of `.log` retained. */
  get byteLength(): number {
    return retainedLength(this.#state);
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
  appendBatch(header: OpHeader, batchLease: Lease, done: AppendDone, facts?: BatchFacts): void {
    this.#appends.batch(header, batchLease, done, facts);
  }

  /**
   * Journals a small op: store or delete an offset, truncate, purge. The body is copied.
   * @param isNumbered  as in `BatchFacts`
   * @throws CodedError `InvalidCommand` when the body does not decode; nothing was accepted then
   */
  appendOperation(header: OpHeader, body: Uint8Array, done: AppendDone, isNumbered = false): void {
    this.#appends.operation(header, body, done, isNumbered);
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
    return this.#inspections.verify(request);
  }

  /**
   * Describes the committed state, for a replica that lacks too much, see `describeState`.
   * @throws CodedError the fault; what the disk answers; `ShuttingDown` once the partition is closed
   */
  describeState(): Promise<StateDescription | undefined> {
    return this.#inspections.describeState();
  }

  /**
   * Reads a journaled op back, for a replica that lacks it, see `PrepareReader`. One at a time.
   * @throws CodedError `PartitionDamaged`; what the disk answers; `ShuttingDown` once the partition is closed
   */
  readPrepare(op: number): Promise<StoredPrepare | undefined> {
    return this.#inspections.readPrepare(op);
  }

  /**
   * Why stored offsets cannot be told: records of this partition are damaged or gone that may have changed
   * them. Everything that asks for stored offsets throws it.
   */
  get offsetsFault(): CodedError | undefined {
    return this.#state.offsetsFault;
  }

  /** Records behind what is committed cannot be read, and may be committed elsewhere: see `offsetsFault`. */
  endsInDamage(damage: CodedError): void {
    this.#state.offsetsFault ??= damage;
  }

  /** Committed offset of a consumer (1) or group (2). @throws CodedError `offsetsFault` */
  consumerOffset(kind: 1 | 2, id: number): number | undefined {
    return knownOffsets(this.#state).get(kind, id);
  }

  /** Consumers or groups with a committed offset. @throws CodedError `offsetsFault` */
  consumerOffsetIds(kind: 1 | 2): number[] {
    return [...knownOffsets(this.#state).all()]
      .filter(({ consumerKind }) => consumerKind === kind)
      .map(({ id }) => id);
  }

  /**
   * True when an offset of this key may be stored: after every accepted op it is there already, or there is
   * room.
   * @throws CodedError `offsetsFault`
   */
  mayStoreConsumerOffset(kind: 1 | 2, id: number): boolean {
    return mayStoreOffset(this.#state, kind, id, this.#options.consumerOffsetsMax);
  }

  /**
   * Offset of a consumer (1) or group (2) as it is after every accepted op, committed or not: what the next
   * op must respect.
   * @throws CodedError `offsetsFault`
   */
  acceptedConsumerOffset(kind: 1 | 2, id: number): number | undefined {
    return knownAcceptedOffset(this.#state, kind, id);
  }

  /**
   * Offsets of all consumers and groups as they are after every accepted op, committed or not: what the next
   * op must respect.
   * @throws CodedError `offsetsFault`
   */
  acceptedConsumerOffsets(): readonly StoredOffset[] {
    return knownAcceptedOffsets(this.#state);
  }

  /** A committed request whose number was its client's own, while it is remembered. */
  rememberedRequest(client: bigint, user: number, number: bigint): RememberedRequest | undefined {
    return this.#state.requests.find(client, user, number);
  }

  /** Sealed segments, oldest first. */
  sealedSegments(): readonly SealedSegment[] {
    return sealedSegments(this.#state);
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
    this.#appends.close();
    const inspected = this.#inspections.close();
    await this.#reader.close();
    await inspected;
    await this.#writer?.idle();
    await this.#commits.idle();
    try {
      await this.#writer?.close();
    } finally {
      this.#tails.dropAll();
      await this.#handles.closeAll();
    }
  }

  /** Memory of generations before `generation` goes: a purge took effect. */
  forgetBefore(generation: number): void {
    this.#tails.dropBefore(generation);
  }

  /** Ops that were accepted but not journaled are forgotten, and the cached batches with them. */
  rollBack(): void {
    this.#appends.rollBack();
  }
}
