import type { ChecksumKernel } from "@millrace/framing";
import { NUMBERED_FLAG } from "../op-record/checkpoint.ts";
import {
  RECORD_HEADER_LENGTH,
  RecordKind,
  recordLength,
  sealRecord,
  sealRecordInPlace,
  writeBatchPlace,
  writeRecordHeader,
} from "../op-record/record.ts";
import { viewOver } from "../op-record/u64-field.ts";
import type { OpEntry } from "./op-entry.ts";

/** Bytes of batches in one group: what one write of a few milliseconds carries. */
const GROUP_LENGTH_MAX = 4_194_304;
/** Large batches in one group: enough for the write to be one long run, few enough to answer soon. */
const GROUP_LARGE_MAX = 8;
/** Ops in one group: half a megabyte of records. */
const GROUP_OPS_MAX = 4096;
/** A batch from this length on is large. */
export const LARGE_LENGTH = 16_384;
const RECORD_BYTES_FIRST = 1024;

/**
 * The ops that go to disk together: the parts for the `.log`, the records for the `.ops`.
 *
 * One object serves all groups of a partition one after another; the record bytes are reused, so nobody may
 * keep them past the write.
 */
export class Group {
  readonly entries: OpEntry[] = [];
  logLength = 0;
  opsLength = 0;
  readonly #kernel: ChecksumKernel;
  #large = 0;
  /** Bytes of records in the kernel's scratch. */
  #scratchLength = 0;
  #recordBytes = new Uint8Array(RECORD_BYTES_FIRST);
  #recordView = viewOver(this.#recordBytes);
  /**
   * Ranges of the kernel's memory to be written, start and end by turns; neighbours in memory are one range.
   */
  readonly #logRanges: number[] = [];

  constructor(kernel: ChecksumKernel) {
    this.#kernel = kernel;
  }

  get records(): Uint8Array {
    return this.#recordBytes.subarray(0, this.opsLength);
  }

  /** Parts for one vectored write. */
  logParts(): Uint8Array[] {
    const { bytes } = this.#kernel.memory;
    const ranges = this.#logRanges;
    const parts: Uint8Array[] = [];
    for (let at = 0; at < ranges.length; at += 2) parts.push(bytes.subarray(ranges[at], ranges[at + 1]));
    return parts;
  }

  clear(): void {
    this.entries.length = 0;
    this.#logRanges.length = 0;
    this.logLength = 0;
    this.opsLength = 0;
    this.#large = 0;
    this.#scratchLength = 0;
  }

  /** True when `entry` may still join. The first always may. */
  admits(entry: OpEntry): boolean {
    const { entries } = this;
    if (entries.length === 0) return true;
    if (entries.length >= GROUP_OPS_MAX || this.#large >= GROUP_LARGE_MAX) return false;
    const last = entries[entries.length - 1];
    if (last?.small?.operation.kind === "purge") return false;
    const gap = entry.batch !== undefined && entry.batch.baseOffset !== last?.endOffset;
    return !gap && this.logLength + (entry.batch?.length ?? 0) <= GROUP_LENGTH_MAX;
  }

  /**
   * Adds an op whose batch, if it has one, will lie at `logPosition` plus what the group holds already.
   * `gather` comes after the last one, within the same call of whoever fills the group.
   */
  add(entry: OpEntry, logPosition: number, commit: number): void {
    const body = entry.small?.body;
    if (body === undefined) this.#addInScratch(entry, logPosition, commit);
    else this.#addWithBody(entry, body, commit);
    this.entries.push(entry);
  }

  /** Takes the records of batches over from the kernel's scratch. */
  gather(): void {
    const length = this.#scratchLength;
    if (length === 0) return;
    const { memory, scratch } = this.#kernel;
    const at = this.#reserve(length);
    this.#recordBytes.set(memory.bytes.subarray(scratch.position, scratch.position + length), at);
    this.#scratchLength = 0;
  }

  /** Most records are those of batches: written and sealed side by side in the kernel's memory. */
  #addInScratch(entry: OpEntry, logPosition: number, commit: number): void {
    const { memory, scratch } = this.#kernel;
    if (this.#scratchLength + RECORD_HEADER_LENGTH > scratch.length) this.gather();
    const at = scratch.position + this.#scratchLength;
    this.#scratchLength += RECORD_HEADER_LENGTH;
    const { view, words } = memory;
    this.#writeHeader(view, at, entry, commit, words);
    if (entry.batch !== undefined) {
      writeBatchPlace(view, at, entry.batch, logPosition + this.logLength, words);
      this.#addBatch(entry.batch);
    }
    sealRecordInPlace(this.#kernel, at, RECORD_HEADER_LENGTH);
  }

  #addWithBody(entry: OpEntry, body: Uint8Array, commit: number): void {
    this.gather();
    const length = recordLength(body.length);
    const at = this.#reserve(length);
    this.#recordBytes.fill(0, at + RECORD_HEADER_LENGTH, at + length);
    this.#writeHeader(this.#recordView, at, entry, commit);
    this.#recordBytes.set(body, at + RECORD_HEADER_LENGTH);
    sealRecord(this.#kernel, this.#recordBytes, this.#recordView, { position: at, length });
  }

  #writeHeader(view: DataView, at: number, entry: OpEntry, commit: number, words?: BigUint64Array): void {
    const parts = {
      kind: entry.batch === undefined ? RecordKind.operation : RecordKind.batch,
      flags: entry.request === undefined ? 0 : NUMBERED_FLAG,
      bodyLength: entry.small?.body.length ?? 0,
      commit,
      groupPlace: this.entries.length,
    };
    writeRecordHeader(view, at, entry.header, parts, words);
  }

  #addBatch(batch: NonNullable<OpEntry["batch"]>): void {
    if (batch.length >= LARGE_LENGTH) this.#large += 1;
    this.logLength += batch.length;
    const start = batch.position;
    const ranges = this.#logRanges;
    const follows = ranges.length > 0 && ranges[ranges.length - 1] === start;
    if (follows) ranges[ranges.length - 1] = start + batch.length;
    else ranges.push(start, start + batch.length);
  }

  /** Room for `length` more bytes of records, with any content. */
  #reserve(length: number): number {
    const at = this.opsLength;
    this.opsLength += length;
    if (this.opsLength > this.#recordBytes.length) {
      const wider = new Uint8Array(Math.max(this.opsLength, this.#recordBytes.length * 2));
      wider.set(this.#recordBytes);
      this.#recordBytes = wider;
      this.#recordView = viewOver(wider);
    }
    return at;
  }
}
