import { decodeCheckpoint } from "../op-record/checkpoint.ts";
import { type BatchPlace, type OpRecord, RECORD_HEADER_LENGTH, RecordKind } from "../op-record/record.ts";
import { successorOf } from "../op-record/successor-mark.ts";
import { readAt } from "../segment/file-calls.ts";
import type { ActiveSource } from "./active-segment.ts";
import {
  type DueOp,
  type HarmedRecord,
  harmedRecord,
  isBeginning,
  OP_RECORD_LENGTH_MAX,
} from "./harmed-record.ts";
import type { LogWindow } from "./log-window.ts";
import { type ByteRange, hasLostSector } from "./lost-bytes.ts";
import { type ScannedRecord, scanRecords } from "./record-scan.ts";
import { isNext } from "./replay.ts";

/** What lies behind the last op that verifies. */
export interface TailFinding {
  /** Where the first bad thing is when it is damage; nothing for a torn tail. */
  readonly damage: { readonly file: string; readonly position: number } | undefined;
  /** First offset that no batch or record behind the good end names: never below the good end. */
  readonly frontier: number;
  /** A record of a later group shows that the first bad op had been written completely. */
  readonly wasWritten: boolean;
}

/** Good things behind the stop, and whether they were written after the first bad op was. */
interface Evidence {
  /** An op of ours that was written after the first bad one had been. */
  laterOp: boolean;
  /** A batch of which that is true and whose bytes verify, or were changed. */
  laterBatch: boolean;
  /** Place in the `.ops` of the first of ours; nothing when there is none. */
  firstAt: number | undefined;
}

/**
 * Looks behind the last good op, of which `stop` is the end in the `.ops`, and tells damage from a torn tail.
 *
 * A write that a kill cut short leaves a beginning; power loss leaves out whole sectors, which read as zeros.
 * Wrong bytes of another kind are damage. So are lost ones when something good follows that can only have
 * been written after them: then they were there. One changed bit in what follows takes no evidence away.
 */
export class TailSearch {
  readonly #source: ActiveSource;
  readonly #window: LogWindow | undefined;
  readonly #stop: number;
  readonly #evidence: Evidence = { laterOp: false, laterBatch: false, firstAt: undefined };
  #frontier: number;
  /** The good record of the op that is due, when it is that op's batch that does not hold. */
  #unheld: OpRecord | undefined;
  /** The record of the op that is due is there with one changed bit. */
  #isDueChanged = false;

  constructor(source: ActiveSource, window: LogWindow | undefined, stop: number) {
    this.#source = source;
    this.#window = window;
    this.#stop = stop;
    this.#frontier = source.segment.endOffset;
  }

  async run(): Promise<TailFinding> {
    const { files, kernel, opsLength, state, segment } = this.#source;
    if (state.journaled.generation !== segment.generation) this.#frontier = 0;
    const range = { file: files.ops, kernel, from: this.#stop, end: opsLength };
    await scanRecords(range, (records) => this.#visit(records), "search-changed");
    const hasBatchBehind = await this.#searchLog();
    const isDamage =
      this.#unheld === undefined ? await this.#isRecordDamaged(hasBatchBehind) : await this.#isBatchDamaged();
    const { path, position } = this.#firstBad();
    return {
      damage: isDamage ? { file: path, position } : undefined,
      frontier: this.#frontier,
      wasWritten: this.#evidence.laterOp,
    };
  }

  async #visit(records: readonly ScannedRecord[]): Promise<boolean> {
    for (const scanned of records) await this.#note(scanned);
    return true;
  }

  /**
   * A record in which one bit was changed was written, like a good one: it proves the same. That goes for the
   * note of a next segment, which a lost sector before it does not hide either.
   */
  async #note({ record, position, isChanged }: ScannedRecord): Promise<void> {
    const { state, segment } = this.#source;
    segment.successor = successorOf(record);
    this.#raise(record);
    if (record.header.op <= state.journaled.op) return;
    const isDue = position === this.#stop && isNext(state, segment, record);
    if (isDue && isChanged) {
      this.#isDueChanged = true;
      return;
    }
    this.#evidence.firstAt ??= position;
    if (isDue) {
      this.#unheld = { ...record, body: record.body.slice() };
      return;
    }
    // A mark comes when every op up to its own is written.
    const isLater = !isOp(record) || record.header.op - record.groupPlace > state.journaled.op + 1;
    this.#evidence.laterOp ||= isLater;
    if (isLater && record.kind === RecordKind.batch && !this.#evidence.laterBatch) {
      this.#evidence.laterBatch = await this.#isThere(record.place);
    }
  }

  /** True for a batch that holds, or did before it was changed. */
  async #isThere(place: BatchPlace): Promise<boolean> {
    if (this.#window === undefined || (await this.#window.holds(place))) return true;
    return this.#isChanged(place);
  }

  /** True for a batch that does not hold when it is there to its end and no lost power explains that. */
  async #isChanged(place: BatchPlace): Promise<boolean> {
    const { log } = this.#source.files;
    const wrong = await this.#window?.wrongBytes(place);
    return log !== undefined && wrong !== undefined && !(await hasLostSector(log, place.position, wrong));
  }

  /** The record of the next op is there, its batch does not hold. */
  async #isBatchDamaged(): Promise<boolean> {
    const { files, isPersisted, isLossKnown } = this.#source;
    const { laterOp, laterBatch } = this.#evidence;
    if (this.#unheld === undefined || files.log === undefined) return true;
    if ((laterBatch && !isLossKnown) || (isPersisted && laterOp)) return true;
    return this.#isChanged(this.#unheld.place);
  }

  /** No record of the next op is there. */
  async #isRecordDamaged(hasBatchBehind: boolean): Promise<boolean> {
    const { laterOp, firstAt } = this.#evidence;
    const wrong = firstAt === undefined ? await this.#harmedRecord(hasBatchBehind) : this.#upTo(firstAt);
    if ((laterOp && !this.#source.isLossKnown) || this.#isDueChanged) return true;
    return wrong !== undefined && !(await hasLostSector(this.#source.files.ops, this.#stop, wrong));
  }

  #upTo(end: number): ByteRange {
    return { from: this.#stop, to: Math.max(end, this.#stop + 1) };
  }

  /**
   * Where the record of the next op must be, when it is there to its end and nothing good follows; without
   * the zeros that it ends with.
   */
  async #harmedRecord(hasBatchBehind: boolean): Promise<ByteRange | undefined> {
    const { files, opsLength, state } = this.#source;
    const range = { from: this.#stop, to: opsLength };
    const harmed = await harmedRecordAt(files.ops, range, state.journaled);
    if (harmed !== undefined) return this.#upTo(this.#stop + harmed.filledLength);
    if (!hasBatchBehind || opsLength - this.#stop < RECORD_HEADER_LENGTH) return undefined;
    // The batch may be that of a later op of the same group, whose messages were there before its records.
    const isTorn = isBeginning(await recordBytes(files.ops, range), dueBehind(state.journaled));
    return isTorn ? undefined : this.#upTo(this.#stop + RECORD_HEADER_LENGTH);
  }

  #firstBad(): { path: string; position: number } {
    const { files, segment } = this.#source;
    if (this.#unheld !== undefined && files.log !== undefined) {
      return { path: files.log.path, position: segment.logLength };
    }
    return { path: files.ops.path, position: this.#stop };
  }

  #raise(record: OpRecord): void {
    const { place } = record;
    const isBatch = record.kind === RecordKind.batch;
    const end = isBatch ? place.baseOffset + place.count : (decodeCheckpoint(record)?.nextOffset ?? 0);
    this.#frontier = Math.max(this.#frontier, end);
  }

  /**
   * Whole batches behind the good end of the `.log` that continue its offsets were written by us: seen,
   * perhaps. True when there is one.
   */
  async #searchLog(): Promise<boolean> {
    const { segment, logLength } = this.#source;
    let { logLength: position, endOffset: next } = segment;
    while (position < logLength) {
      const batch = await this.#window?.batchAt(position, logLength - position);
      if (batch === undefined || batch.baseOffset !== next) break;
      next = batch.baseOffset + batch.count;
      position += batch.length;
      this.#frontier = Math.max(this.#frontier, next);
    }
    return position > segment.logLength;
  }
}

function isOp({ kind }: OpRecord): boolean {
  return kind === RecordKind.batch || kind === RecordKind.operation;
}

/** `harmedRecord` of what lies in a range of an `.ops`. */
export async function harmedRecordAt(
  file: ActiveSource["files"]["ops"],
  range: ByteRange,
  before: JournalEnd,
): Promise<HarmedRecord | undefined> {
  return harmedRecord(await recordBytes(file, range), dueBehind(before));
}

/** What a state says of the op it stands at. */
interface JournalEnd {
  readonly op: number;
  readonly opChecksum: bigint;
  readonly nextOffset: number;
}

function dueBehind({ op, opChecksum: parent, nextOffset }: JournalEnd): DueOp {
  return { op: op + 1, parent, nextOffset };
}

/** The bytes of a range that the record of an op may take. */
async function recordBytes(file: ActiveSource["files"]["ops"], range: ByteRange): Promise<Uint8Array> {
  const bytes = new Uint8Array(Math.max(0, Math.min(OP_RECORD_LENGTH_MAX, range.to - range.from)));
  return bytes.subarray(0, await readAt(file, bytes, range.from));
}
