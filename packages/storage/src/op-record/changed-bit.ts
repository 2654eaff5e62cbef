import type { ChecksumKernel } from "@millrace/framing";
import { mayHaveMagic, type OpRecord, readRecord } from "./record.ts";
import { viewOver } from "./u64-field.ts";

/** Longest record that is tried: each of its bits costs one checksum of it, 0.1 s in all. */
const TRIED_LENGTH_MAX = 4096;
/** Bytes a device writes at once or not at all, at least. */
const SECTOR_LENGTH = 512;

/** Bytes of a file in which a record may begin that does not verify. */
export interface DoubtfulBytes {
  readonly bytes: Uint8Array;
  /** Where they lie in the file. */
  readonly filePosition: number;
  /** Where in them the record begins. */
  readonly start: number;
  /** Longest record to try; default 4 KiB. */
  readonly lengthMax?: number | undefined;
}

/**
 * The record that verifies once one of its bits is changed back: it was written to its end, whatever it looks
 * like. Nothing when there is none, or when the bit lies in a sector that reads as zeros: power loss leaves
 * that of a sector in which the record had one bit.
 *
 * @throws CodedError `FormatTooNew`, see `readRecord`
 */
export function recordBeforeChange(kernel: ChecksumKernel, place: DoubtfulBytes): OpRecord | undefined {
  const { bytes, start, lengthMax = TRIED_LENGTH_MAX } = place;
  const tried = bytes.slice(start, start + lengthMax);
  const view = viewOver(tried);
  if (!mayHaveMagic(view, 0)) return undefined;
  for (let bit = 0; bit < 8 * tried.length; bit += 1) {
    const at = bit >>> 3;
    const before = tried[at] ?? 0;
    tried[at] = before ^ (1 << (bit & 7));
    const record = readRecord(kernel, tried, view, 0);
    if (record !== undefined) return isSectorBlank(place, start + at) ? undefined : record;
    tried[at] = before;
  }
  return undefined;
}

/** True when the sector with a byte of the record reads as zeros, from the record's beginning on. */
function isSectorBlank({ bytes, filePosition, start }: DoubtfulBytes, at: number): boolean {
  const sectorStart = at - ((filePosition + at) % SECTOR_LENGTH);
  return bytes
    .subarray(Math.max(start, sectorStart), sectorStart + SECTOR_LENGTH)
    .every((byte) => byte === 0);
}
