import type { PartitionOptions } from "../partition/partition-options.ts";
import { datasync } from "../segment/file-calls.ts";
import type { Segment } from "../segment/segment.ts";
import { closeSegmentFiles, openSegmentFiles, type SegmentFiles } from "../segment/segment-files.ts";
import { setAside } from "./quarantine.ts";
import type { RecoverySource } from "./recovery-source.ts";
import type { FoundSegment } from "./scan-directory.ts";
import type { TailFinding } from "./tail-search.ts";

/** The end of a segment that was found to be torn. */
export interface TornTail {
  readonly found: FoundSegment;
  readonly segment: Segment;
  readonly files: SegmentFiles;
  readonly finding: TailFinding;
}

/** Copies what lies behind the last good op of both files into quarantine; false when nothing does. */
export async function setTailAside(source: RecoverySource, tail: TornTail): Promise<boolean> {
  const { options } = source;
  const { segment, files, found } = tail;
  const ranges = [
    { file: files.ops, from: segment.opsLength, end: found.opsLength ?? 0 },
    { file: files.log, from: segment.logLength, end: found.logLength ?? 0 },
  ];
  if (tail.finding.wasWritten) {
    const facts = { path: files.log.path, position: segment.logLength };
    options.log.error("Operations that had been written are gone from the end of a file.", facts);
  }
  for (const range of ranges) {
    const kept = await setAside(options.disk, range);
    if (kept === undefined) continue;
    const facts = { path: range.file.path, position: range.from, length: range.end - range.from, kept };
    options.log.warn("A torn tail behind the last whole operation is cut; it was kept aside.", facts);
  }
  return ranges.some((range) => range.end > range.from);
}

/** Cuts both files of a segment behind its last good op. */
export async function cutTail({ disk, path }: PartitionOptions, segment: Segment): Promise<void> {
  const files = await openSegmentFiles(disk, path, segment);
  try {
    await files.ops.truncate(segment.opsLength);
    await files.log.truncate(segment.logLength);
    await Promise.all([datasync(files.ops), datasync(files.log)]);
  } finally {
    await closeSegmentFiles(files);
  }
}
