import { lengthFromTrailer, TRAILER_LENGTH } from "../op-record/checkpoint.ts";
import { claimedRecordLength, RECORD_HEADER_LENGTH } from "../op-record/record.ts";
import { viewOver } from "../op-record/u64-field.ts";
import { readAt } from "../segment/file-calls.ts";
import { hasLostSector } from "./lost-bytes.ts";
import type { RecoverySource } from "./recovery-source.ts";
import type { FoundSegment } from "./scan-directory.ts";

/**
 * True when the first record of an `.ops`, which does not verify, had been written to its end: it was changed
 * later. A roll that a kill cut short leaves a beginning of it, one that power loss cut short leaves out
 * sectors; the segment before is complete then. Of a record that was changed nobody knows that.
 *
 * How long it is its header says and its end; one changed bit leaves one of them right.
 */
export async function isFirstRecordChanged(
  { options, state }: RecoverySource,
  segment: FoundSegment,
): Promise<boolean> {
  const end = segment.opsLength ?? 0;
  if (end < RECORD_HEADER_LENGTH) return false;
  const file = await options.disk.openFile(state.filePath(segment, "ops"), "read");
  try {
    const header = new Uint8Array(RECORD_HEADER_LENGTH);
    const trailer = new Uint8Array(TRAILER_LENGTH);
    await readAt(file, header, 0);
    await readAt(file, trailer, end - TRAILER_LENGTH);
    const claimed = claimedRecordLength(viewOver(header), 0);
    const hasEnd = (claimed > 0 && claimed <= end) || lengthFromTrailer(trailer) > 0;
    return hasEnd && !(await hasLostSector(file, 0, { from: 0, to: Math.min(claimed || end, end) }));
  } finally {
    await file.close();
  }
}
