import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import type { DiskFile } from "@millrace/platform";
import { decodeCheckpoint } from "../op-record/checkpoint.ts";
import { type OpRecord, RecordKind } from "../op-record/record.ts";
import type { Commits } from "../partition/commits.ts";
import type { PartitionState } from "../partition/partition-state.ts";
import type { Segment } from "../segment/segment.ts";
import { LogWindow } from "./log-window.ts";
import { type ScannedRecord, scanRecords } from "./record-scan.ts";
import { isNext, replayRecord } from "./replay.ts";

/** What the recovery of an active segment works on. */
export interface ActiveSource {
  readonly state: PartitionState;
  readonly commits: Commits;
  readonly segment: Segment;
  /** Without a `.log` every record is taken at its word. */
  readonly files: { readonly ops: DiskFile; readonly log: DiskFile | undefined };
  readonly opsLength: number;
  readonly logLength: number;
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
}

/** What lies behind the last op that verifies. */
export interface TailFinding {
  /** Where the first bad thing is, when good things follow it: damage, not a torn tail. */
  readonly damage: { readonly file: string; readonly position: number } | undefined;
  /** First offset that no batch or record behind the good end names: never below the good end. */
  readonly frontier: number;
}

/**
 * Replays the active segment from its first record on, checking every batch, up to the last op that verifies;
 * then judges what follows.
 *
 * Good records whose batches are good behind a bad one are damage: those too are taken into the state, so
 * that what is good stays readable, and the caller sets a fault. Otherwise what follows is a torn tail for
 * the caller to cut. Offsets that the tail names were seen by somebody and count into `frontier`.
 */
export async function recoverActive(source: ActiveSource): Promise<TailFinding> {
  const { log } = source.files;
  const window = log && new LogWindow(log, source, source.state.identity.partitionId);
  try {
    const stop = await replayGood(source, window);
    return await new TailSearch(source, window, stop).run();
  } finally {
    window?.release();
  }
}

/** Answers where in the `.ops` the first op lies that does not verify, or its end. */
async function replayGood(source: ActiveSource, window: LogWindow | undefined): Promise<number> {
  const { state, commits, segment } = source;
  let refusedAt: number | undefined;
  const range = { file: source.files.ops, kernel: source.kernel, from: 0, end: source.opsLength };
  const scannedTo = await scanRecords(range, async (records) => {
    for (const { record, position } of records) {
      const isGood =
        isNext(state, segment, record) && (holdsNow(window, record) ?? (await holdsBatch(window, record)));
      if (!isGood) {
        refusedAt = position;
        return false;
      }
      replayRecord(state, commits, segment, record, position);
    }
    return true;
  });
  return refusedAt ?? scannedTo;
}

/** The answer without waiting, when there is one: a start replays millions of records. */
function holdsNow(window: LogWindow | undefined, record: OpRecord): boolean | undefined {
  return window === undefined || record.kind !== RecordKind.batch || window.holdsNow(record.place);
}

async function holdsBatch(window: LogWindow | undefined, record: OpRecord): Promise<boolean> {
  return window === undefined || record.kind !== RecordKind.batch || (await window.holds(record.place));
}

/** Looks behind the last good op for things that verify. */
class TailSearch {
  readonly #source: ActiveSource;
  readonly #window: LogWindow | undefined;
  readonly #stop: number;
  #frontier: number;
  #firstBadRecordIsGood = false;
  #damage: { file: string; position: number } | undefined;

  constructor(source: ActiveSource, window: LogWindow | undefined, stop: number) {
    this.#source = source;
    this.#window = window;
    this.#stop = stop;
    this.#frontier = source.segment.endOffset;
  }

  async run(): Promise<TailFinding> {
    const { files, kernel, opsLength, state } = this.#source;
    if (state.journaled.generation !== this.#source.segment.generation) this.#frontier = 0;
    const range = { file: files.ops, kernel, from: this.#stop, end: opsLength };
    await scanRecords(range, (records) => this.#visit(records), "search");
    if (this.#damage === undefined) await this.#searchLog();
    return { damage: this.#damage, frontier: this.#frontier };
  }

  async #visit(records: readonly ScannedRecord[]): Promise<boolean> {
    for (const { record, position } of records) {
      if (position === this.#stop) this.#firstBadRecordIsGood = true;
      await this.#judge(record, position);
    }
    return true;
  }

  async #judge(record: OpRecord, position: number): Promise<void> {
    const { state, segment, commits } = this.#source;
    const isOp = record.kind === RecordKind.batch || record.kind === RecordKind.operation;
    if (!isOp || record.header.op <= state.journaled.op) return this.#raise(record);
    const isBatch = record.kind === RecordKind.batch;
    this.#raise(record);
    const isEvidence = isBatch
      ? position !== this.#stop && (await holdsBatch(this.#window, record))
      : !this.#firstBadRecordIsGood;
    if (!isEvidence && this.#damage === undefined) return;
    this.#damage ??= this.#firstBad();
    replayRecord(state, commits, segment, record, position);
  }

  #firstBad(): { file: string; position: number } {
    const { files, segment } = this.#source;
    if (this.#firstBadRecordIsGood && files.log !== undefined) {
      return { file: files.log.path, position: segment.logLength };
    }
    return { file: files.ops.path, position: this.#stop };
  }

  #raise(record: OpRecord): void {
    const end =
      record.kind === RecordKind.batch
        ? record.place.baseOffset + record.place.count
        : (decodeCheckpoint(record)?.nextOffset ?? 0);
    this.#frontier = Math.max(this.#frontier, end);
  }

  /**
   * Whole batches behind the good end of the `.log` that continue its offsets were written by us: seen,
   * perhaps.
   */
  async #searchLog(): Promise<void> {
    const { segment, logLength } = this.#source;
    let position = segment.logLength;
    let next = segment.endOffset;
    while (position < logLength) {
      const batch = await this.#window?.batchAt(position, logLength - position);
      if (batch === undefined || batch.baseOffset !== next) return;
      next = batch.baseOffset + batch.count;
      position += batch.length;
      this.#frontier = Math.max(this.#frontier, next);
    }
  }
}
