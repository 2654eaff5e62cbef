import type { ChecksumKernel } from "@millrace/framing";
import { readRecord } from "./record.ts";
import { viewOver } from "./u64-field.ts";

/** Longest record that is tried: each of its bits costs one checksum of it, 0.1 s in all. */
const TRIED_LENGTH_MAX = 4096;

/**
 * True when the record that `bytes` begin with verifies once one of its bits is changed back. Then it was
 * written to its end, whatever it looks like. Longer records than 4 KiB are not tried. The bytes are changed
 * and restored.
 *
 * @throws CodedError `FormatTooNew`, see `readRecord`
 */
export function hasChangedBit(kernel: ChecksumKernel, bytes: Uint8Array): boolean {
  const tried = bytes.subarray(0, TRIED_LENGTH_MAX);
  const view = viewOver(tried);
  for (let bit = 0; bit < 8 * tried.length; bit += 1) {
    const at = bit >>> 3;
    const before = tried[at] ?? 0;
    tried[at] = before ^ (1 << (bit & 7));
    const record = readRecord(kernel, tried, view, 0);
    tried[at] = before;
    if (record !== undefined) return true;
  }
  return false;
}
