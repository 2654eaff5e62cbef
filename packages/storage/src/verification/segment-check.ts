import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import type { DiskFile } from "@millrace/platform";
import { type BatchPlace, RECORD_ALIGNMENT, RecordKind } from "../op-record/record.ts";
import { LogWindow } from "../recovery/log-window.ts";
import { type ScannedRecord, scanRecords } from "../recovery/record-scan.ts";
import type { Tally } from "./tally.ts";
import type { SegmentPlace } from "./verify-cursor.ts";

/** The files of one segment, as far as they are there, and how many bytes of each are to be checked. */
export interface SegmentSource {
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
  readonly partitionId: number;
  readonly log: DiskFile | undefined;
  readonly ops: DiskFile | undefined;
  readonly logPath: string;
  readonly opsPath: string;
  readonly logLength: number;
  readonly opsLength: number;
}

/**
 * Checks the op records of a segment and every batch they name, from `place` on, which moves along.
 *
 * A record that does not verify is passed by looking for the next one that does; batches between two records
 * that nobody names are checked by their own headers.
 */
export class SegmentCheck {
  readonly #source: SegmentSource;
  readonly #place: SegmentPlace;
  readonly #tally: Tally;

  constructor(source: SegmentSource, place: SegmentPlace, tally: Tally) {
    this.#source = source;
    this.#place = place;
    this.#tally = tally;
  }

  /** Answers true at the end of the segment, false when the step's budget is used up before. */
  async run(): Promise<boolean> {
    const { log, ops, partitionId, opsLength, logLength } = this.#source;
    const window = log && new LogWindow(log, this.#source, partitionId);
    try {
      while (ops !== undefined && this.#place.opsPosition < opsLength) {
        await this.#checkRecords(ops, window);
        if (this.#tally.isFull) return false;
        if (this.#place.opsPosition < opsLength) await this.#passBadRecord(ops);
      }
      return await this.#checkUnnamed(window, logLength);
    } finally {
      window?.release();
    }
  }

  /** Checks records up to the first that does not verify, the end, or the end of the budget. */
  async #checkRecords(ops: DiskFile, window: LogWindow | undefined): Promise<void> {
    await scanRecords(this.#range(ops, this.#place.opsPosition), async (records) => {
      for (const scanned of records) {
        if (!(await this.#checkRecord(scanned, window))) return false;
      }
      return true;
    });
  }

  async #checkRecord({ record, position }: ScannedRecord, window: LogWindow | undefined): Promise<boolean> {
    const { place } = record;
    const isBatch = record.kind === RecordKind.batch;
    if (isBatch && !(await this.#checkUnnamed(window, place.position))) return false;
    this.#place.opsPosition = position + record.length;
    this.#tally.bytes += record.length;
    if (isBatch) await this.#checkBatch(place, window);
    return !this.#tally.isFull;
  }

  async #checkBatch(place: BatchPlace, window: LogWindow | undefined): Promise<void> {
    const { logPath } = this.#source;
    this.#place.logPosition = Math.max(this.#place.logPosition, place.position + place.length);
    if (window === undefined) return;
    this.#tally.batch(place.length, place.count);
    if (window.holdsNow(place) ?? (await window.holds(place))) return;
    const wrong = await window.wrongBytes(place);
    const position = wrong?.from ?? place.position;
    this.#tally.damage({
      kind: wrong === undefined ? "short" : "batch",
      path: logPath,
      position,
      offset: place.baseOffset,
    });
  }

  /** Checks batches that no good record names, up to `end`; false when the budget is used up before. */
  async #checkUnnamed(window: LogWindow | undefined, end: number): Promise<boolean> {
    if (window === undefined) return true;
    while (this.#place.logPosition < end) {
      if (this.#tally.isFull) return false;
      const position = this.#place.logPosition;
      const batch = await window.batchAt(position, end - position);
      if (batch === undefined) {
        this.#tally.damage({ kind: "batch", path: this.#source.logPath, position, offset: undefined });
        this.#place.logPosition = end;
        return true;
      }
      this.#tally.batch(batch.length, batch.count);
      this.#place.logPosition = position + batch.length;
    }
    return true;
  }

  async #passBadRecord(ops: DiskFile): Promise<void> {
    const position = this.#place.opsPosition;
    this.#tally.damage({ kind: "record", path: this.#source.opsPath, position, offset: undefined });
    let next: number | undefined;
    const take = ([first]: readonly ScannedRecord[]) => {
      next = first?.position;
      return false;
    };
    await scanRecords(this.#range(ops, position + RECORD_ALIGNMENT), take, "search");
    this.#place.opsPosition = next ?? this.#source.opsLength;
  }

  #range(file: DiskFile, from: number) {
    return { file, kernel: this.#source.kernel, from, end: this.#source.opsLength };
  }
}
