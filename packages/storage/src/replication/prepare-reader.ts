import type { BlockPool, ChecksumKernel, Lease } from "@millrace/framing";
import type { DiskFile } from "@millrace/platform";
import { NUMBERED_FLAG } from "../op-record/checkpoint.ts";
import type { OpHeader } from "../op-record/op-header.ts";
import { type BatchPlace, type OpRecord, RecordKind, standsBehindOp } from "../op-record/record.ts";
import type { PartitionState } from "../partition/partition-state.ts";
import { damaged } from "../recovery/damage.ts";
import { allocateWaiting } from "../recovery/pool-wait.ts";
import { type ScannedRecord, scanRecords } from "../recovery/record-scan.ts";
import { readAt } from "../segment/file-calls.ts";
import type { ReadHandles } from "../segment/read-handles.ts";
import type { Segment } from "../segment/segment.ts";

/** A journaled op as it is handed to another replica. */
export interface StoredPrepare {
  readonly header: OpHeader;
  /** Highest op known to be committed when it was journaled. */
  readonly commit: number;
  /** See `BatchFacts`. */
  readonly isNumbered: boolean;
  /** The batch as it is stored; the caller's to release. Nothing for an op without one. */
  readonly batchLease: Lease | undefined;
  /** Body of an op without a batch; empty for one with a batch. */
  readonly body: Uint8Array;
}

/** What journaled ops are read with. */
export interface PrepareSource {
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
  readonly state: PartitionState;
  readonly handles: ReadHandles;
}

/** Where the op behind the one that was read last begins: repair asks for one op after the other. */
interface NextPlace {
  readonly segment: Segment;
  readonly op: number;
  readonly position: number;
}

/**
 * Reads ops back from the files of an open partition, for replicas that lack them.
 *
 * One that follows the one read before costs two reads; another costs a walk through the records of its
 * segment. Ops whose segment retention took away are gone.
 */
export class PrepareReader {
  readonly #source: PrepareSource;
  /** The op each segment begins behind, as its first record says. */
  readonly #startOps = new WeakMap<Segment, number>();
  #next: NextPlace | undefined;

  constructor(source: PrepareSource) {
    this.#source = source;
  }

  /**
   * The journaled op with this number; nothing when no file holds it any more, or not yet.
   * @throws CodedError `PartitionDamaged` with file and position, or what the disk answers
   */
  async read(op: number): Promise<StoredPrepare | undefined> {
    const { state } = this.#source;
    if (op < 1 || op > state.journaled.op) return undefined;
    const segment = await this.#segmentOf(op);
    if (segment === undefined) return undefined;
    const record = await this.#recordOf(segment, op);
    if (record === undefined) return undefined;
    const { header, commit, flags } = record;
    const isNumbered = (flags & NUMBERED_FLAG) !== 0;
    const facts = { header, commit, isNumbered, body: record.body };
    if (record.kind !== RecordKind.batch) return { ...facts, batchLease: undefined };
    return { ...facts, batchLease: await this.#batchAt(segment, record.place) };
  }

  /** The newest segment that begins behind an older op holds it, if any does. */
  async #segmentOf(op: number): Promise<Segment | undefined> {
    for (const segment of this.#source.state.kept.toReversed()) {
      const startOp = this.#startOps.get(segment) ?? (await this.#readStartOp(segment));
      if (startOp < op) return segment;
    }
    return undefined;
  }

  async #readStartOp(segment: Segment): Promise<number> {
    const first = await this.#use(segment, "ops", (file, path) => this.#firstRecord(file, path, segment));
    this.#startOps.set(segment, first.header.op);
    return first.header.op;
  }

  async #firstRecord(file: DiskFile, path: string, segment: Segment): Promise<OpRecord> {
    let first: OpRecord | undefined;
    const range = { file, kernel: this.#source.kernel, from: 0, end: segment.opsLength };
    await scanRecords(range, ([scanned]) => {
      first = scanned?.record;
      return false;
    });
    if (first?.kind !== RecordKind.checkpoint) throw damagedRecord(path, 0);
    return first;
  }

  /** Nothing when the segment ends before it: an empty one between this and the next was removed. */
  async #recordOf(segment: Segment, op: number): Promise<OpRecord | undefined> {
    const isNext = this.#next?.segment === segment && this.#next.op === op;
    const from = isNext ? (this.#next?.position ?? 0) : 0;
    return this.#use(segment, "ops", async (file, path) => {
      let found: ScannedRecord | undefined;
      const range = { file, kernel: this.#source.kernel, from, end: segment.opsLength };
      const end = await scanRecords(range, (records) => {
        const here = records.find(({ record }) => isOp(record, op));
        // The record's bytes are the scan's own.
        if (here !== undefined)
          found = { ...here, record: { ...here.record, body: here.record.body.slice() } };
        return here === undefined;
      });
      if (found === undefined && end < range.end) throw damagedRecord(path, end);
      if (found === undefined) return undefined;
      const position = found.position + found.record.length;
      this.#next = { segment, op: op + 1, position };
      return found.record;
    });
  }

  async #batchAt(segment: Segment, place: BatchPlace): Promise<Lease> {
    const { pool, kernel } = this.#source;
    const lease = await allocateWaiting(pool, place.length);
    try {
      await this.#use(segment, "log", async (file, path) => {
        const bytes = lease.bytes.subarray(0, place.length);
        const length = await readAt(file, bytes, place.position);
        const isWhole = length === place.length && kernel.verifyBatch(lease.position, length) === undefined;
        if (!isWhole) throw damagedBatch(path, place);
      });
      return lease.part(0, place.length);
    } finally {
      lease.release();
    }
  }

  async #use<Result>(
    segment: Segment,
    kind: "log" | "ops",
    read: (file: DiskFile, path: string) => Promise<Result>,
  ): Promise<Result> {
    const path = this.#source.state.filePath(segment, kind);
    const { file, done } = await this.#source.handles.use(path);
    try {
      return await read(file, path);
    } finally {
      done();
    }
  }
}

function isOp(record: OpRecord, op: number): boolean {
  return !standsBehindOp(record) && record.header.op === op;
}

function damagedRecord(path: string, position: number) {
  return damaged(`An op record of ${path} is damaged (position ${position}).`, { path, position });
}

function damagedBatch(path: string, { position }: BatchPlace) {
  return damaged(`A batch of ${path} is damaged (position ${position}).`, { path, position });
}
