import type { ChecksumKernel } from "@millrace/framing";
import type { Disk, DiskFile, Log } from "@millrace/platform";
import type { PartitionIdentity } from "../op-record/checkpoint.ts";
import { findBase } from "../recovery/find-base.ts";
import { type FoundSegment, scanDirectory } from "../recovery/scan-directory.ts";
import { datasync } from "../segment/file-calls.ts";
import { removeSegmentFiles } from "../segment/segment-files.ts";
import { segmentFileName } from "../segment/segment-name.ts";
import { segmentEnd } from "./segment-end.ts";

/** What the files of a closed partition are cut with. */
export interface CutSource {
  readonly disk: Disk;
  readonly path: string;
  readonly identity: PartitionIdentity;
  readonly kernel: ChecksumKernel;
  readonly log: Log;
}

/**
 * Takes every op above `op` out of the files of a partition that is not open, for good: a new primary has
 * decided that they never were. Nothing when there are none.
 *
 * A kill in between leaves files that only another cut makes whole: whoever calls keeps `cutAbove` of its
 * views until this has settled, and cuts again before the partition is opened. Files whose first record is
 * not good are left to recovery.
 * @throws CodedError what the disk answers
 */
export async function cutPartition(source: CutSource, op: number): Promise<void> {
  const { disk, path } = source;
  const found = await scanDirectory(disk, path, source.log);
  const newer: FoundSegment[] = [];
  let { base } = await findBase(source, source.identity, found);
  while (base !== undefined && base.checkpoint.op > op) {
    const { segment } = base;
    newer.push(segment);
    base = (await findBase(source, source.identity, older(found, segment))).base;
  }
  if (base === undefined) return;
  if (newer.length > 0) await removeSegmentFiles(disk, path, newer);
  const wasCut = await cutSegment(source, base.segment, op);
  if (wasCut || newer.length > 0) await disk.syncDirectory(path);
}

function older(found: readonly FoundSegment[], segment: FoundSegment): readonly FoundSegment[] {
  return found.slice(0, found.indexOf(segment));
}

/** The index goes too: it may name batches that are gone. */
async function cutSegment(source: CutSource, segment: FoundSegment, op: number): Promise<boolean> {
  const { disk, path } = source;
  const ops = await disk.openFile(`${path}/${segmentFileName(segment, "ops")}`, "read-write");
  try {
    const ends = await segmentEnd(source.kernel, ops, { op, end: await ops.length() });
    if (!ends.isFollowed) return false;
    await disk.removeFile(`${path}/${segmentFileName(segment, "index")}`);
    if (segment.logLength !== undefined) await cutLog(source, segment, ends.logLength);
    await cutFile(ops, ends.opsLength);
    return true;
  } finally {
    await ops.close();
  }
}

async function cutLog({ disk, path }: CutSource, segment: FoundSegment, length: number): Promise<void> {
  const log = await disk.openFile(`${path}/${segmentFileName(segment, "log")}`, "read-write");
  try {
    await cutFile(log, length);
  } finally {
    await log.close();
  }
}

async function cutFile(file: DiskFile, length: number): Promise<void> {
  if ((await file.length()) > length) await file.truncate(length);
  await datasync(file);
}
