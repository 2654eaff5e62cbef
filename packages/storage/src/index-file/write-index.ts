import type { Disk } from "@millrace/platform";
import type { PartitionState } from "../partition/partition-state.ts";
import { writeAt } from "../segment/file-calls.ts";
import type { Segment } from "../segment/segment.ts";
import { encodeIndex } from "./index-file.ts";

/**
 * Writes the `.index` of a segment whose index is in memory. Failing to harms nobody (it is a hint, built
 * anew when it is missing), so that is only told in the log.
 */
export async function writeIndex(disk: Disk, state: PartitionState, segment: Segment): Promise<void> {
  if (segment.index === undefined) return;
  const path = state.filePath(segment, "index");
  try {
    const file = await disk.openFile(path, "create-or-open");
    try {
      await file.truncate(0);
      await writeAt(file, encodeIndex(segment.index), 0);
    } finally {
      await file.close();
    }
  } catch (error) {
    state.log.warn("An index file could not be written; it is rebuilt when needed.", { path, error });
  }
}
