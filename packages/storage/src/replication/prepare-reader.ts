import type { BlockPool, ChecksumKernel, Lease } from "@millrace/framing";
import type { DiskFile } from "@millrace/platform";
import { NUMBERED_FLAG } from "../op-record/checkpoint.ts";
import type { OpHeader } from "../op-record/op-header.ts";
import { type BatchPlace, type OpRecord, RecordKind, standsBehindOp } from "../op-record/record.ts";
import type { PartitionState } from "../partition/partition-state.ts";
import { damaged } from "../recovery/damage.ts";
import { allocateWaiting } from "../recovery/pool-wait.ts";
import { type ScannedRecord, scanRecords } from "../recovery/record-scan.ts";
import { isAbsent, readAt } from "../segment/file-calls.ts";
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

/** Bytes of records read at once from a known place: those of a round of repair, about. */
const RUN_LENGTH = 32_768;
/** Runs of records kept: repair asks for one op after the other, again for some, and so may two nodes. */
const RUNS_KEPT_MAX = 4;
/** Places noted per segment: one each 256 records; behind the last one a walk is as long as it takes. */
const PLACES_MAX = 4096;

/** Records that follow each other, by the number of their op. */
interface Run {
  readonly segment: Segment;
  readonly records: ReadonlyMap<number, OpRecord>;
}

/** Records from this op on begin here. */
interface OpPlace {
  readonly op: number;
  readonly position: number;
}

/**
 * Reads ops back from the files of an open partition, for replicas that lack them.
 *
 * The first one costs a walk through the records of its segment; those that follow cost one read, and now and
 * then one more for the records of many. Ops whose segment retention took away are gone.
 */
export class PrepareReader {
  readonly #source: PrepareSource;
  /** The op each segment begins behind, as its first record says. */
  readonly #startOps = new WeakMap<Segment, number>();
  /** By ascending op. */
  readonly #places = new WeakMap<Segment, OpPlace[]>();
  #runs: Run[] = [];
  /** One look for a record at a time: what many ask for at once is in the run that the first one reads. */
  #looked: Promise<unknown> = Promise.resolve();

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
    const looked = this.#looked.then(() => this.#lookFor(op));
    this.#looked = looked.catch(() => undefined);
    const found = await looked;
    if (found === undefined) return undefined;
    const { record, segment } = found;
    const { header, commit, flags } = record;
    const isNumbered = (flags & NUMBERED_FLAG) !== 0;
    const facts = { header, commit, isNumbered, body: record.body };
    if (record.kind !== RecordKind.batch) return { ...facts, batchLease: undefined };
    return { ...facts, batchLease: await this.#batchAt(segment, record.place) };
  }

  async #lookFor(op: number): Promise<{ record: OpRecord; segment: Segment } | undefined> {
    for (const { segment, records } of this.#runs) {
      const record = records.get(op);
      if (record !== undefined && this.#source.state.kept.includes(segment)) return { record, segment };
    }
    const segment = await this.#segmentOf(op);
    const record = segment && (await this.#recordOf(segment, op));
    return record && segment && { record, segment };
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
    const place = this.#placeBefore(segment, op);
    const chunkLength = place === undefined ? undefined : RUN_LENGTH;
    return this.#use(segment, "ops", async (file, path) => {
      let found: OpRecord | undefined;
      const range = { file, kernel: this.#source.kernel, from: place?.position ?? 0, end: segment.opsLength };
      const end = await scanRecords({ ...range, chunkLength }, (records) => {
        this.#notePlace(segment, records);
        if (records.some(({ record }) => isOp(record, op))) found = this.#keepRun(segment, records).get(op);
        return found === undefined;
      });
      if (found === undefined && end < range.end) throw damagedRecord(path, end);
      return found;
    });
  }

  #placeBefore(segment: Segment, op: number): OpPlace | undefined {
    return this.#places.get(segment)?.findLast((place) => place.op <= op);
  }

  #notePlace(segment: Segment, records: readonly ScannedRecord[]): void {
    const first = records.find(({ record }) => !standsBehindOp(record));
    if (first === undefined) return;
    const places = this.#places.get(segment) ?? [];
    const { op } = first.record.header;
    if (places.length >= PLACES_MAX || op <= (places.at(-1)?.op ?? 0)) return;
    places.push({ op, position: first.position });
    this.#places.set(segment, places);
  }

  /** The records' bytes are the scan's own. */
  #keepRun(segment: Segment, scanned: readonly ScannedRecord[]): ReadonlyMap<number, OpRecord> {
    const records = new Map<number, OpRecord>();
    for (const { record } of scanned) {
      if (!standsBehindOp(record)) records.set(record.header.op, { ...record, body: record.body.slice() });
    }
    this.#runs = [{ segment, records }, ...this.#runs.slice(0, RUNS_KEPT_MAX - 1)];
    return records;
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
    const { state, handles } = this.#source;
    const path = state.filePath(segment, kind);
    const { file, done } = await handles.use(path).catch((error: unknown) => {
      // What retention or a purge removes meanwhile is no damage.
      const isLost = isAbsent(error) && state.kept.includes(segment);
      throw isLost ? damaged(`${path} is missing.`, { path, position: 0 }) : error;
    });
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
