import type { ChecksumKernel } from "@millrace/framing";
import type { Disk, DiskFile, Log } from "@millrace/platform";
import type { PartitionIdentity } from "../op-record/checkpoint.ts";
import { encodeCommitMark } from "../op-record/commit-mark.ts";
import { findBase } from "../recovery/find-base.ts";
import { scanRecords } from "../recovery/record-scan.ts";
import { type FoundSegment, scanDirectory } from "../recovery/scan-directory.ts";
import { datasync, writeAt } from "../segment/file-calls.ts";
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
  const { segment } = base;
  const commit = await commitOf(source, [segment, ...newer]);
  const wasCut = await cutSegment(source, segment, { op, commit, isLast: newer.length === 0 });
  if (newer.length > 0) await removeSegmentFiles(disk, path, newer);
  if (wasCut || newer.length > 0) await disk.syncDirectory(path);
}

/**
 * The highest commit that a record of these segments names: what is cut off may be the only one to say it.
 */
async function commitOf(source: CutSource, segments: readonly FoundSegment[]): Promise<number> {
  let highest = 0;
  for (const segment of segments) {
    const file = await openOps(source, segment, "read");
    try {
      const range = { file, kernel: source.kernel, from: 0, end: await file.length() };
      await scanRecords(range, (records) => {
        for (const { record } of records) highest = Math.max(highest, record.commit);
        return true;
      });
    } finally {
      await file.close();
    }
  }
  return highest;
}

function openOps({ disk, path }: CutSource, segment: FoundSegment, mode: "read" | "read-write") {
  return disk.openFile(`${path}/${segmentFileName(segment, "ops")}`, mode);
}

function older(found: readonly FoundSegment[], segment: FoundSegment): readonly FoundSegment[] {
  return found.slice(0, found.indexOf(segment));
}

/** Where a segment is cut, what is known to be committed, and whether no newer one follows. */
interface Cut {
  readonly op: number;
  readonly commit: number;
  readonly isLast: boolean;
}

/**
 * The index goes too: it may name batches that are gone. What was known to be committed is said behind the
 * op that is the last one now, as the files of what is committed may be gone; a cut that power took away in
 * between may have left half of that. A segment that is harmed before the op is left to recovery.
 */
async function cutSegment(source: CutSource, segment: FoundSegment, cut: Cut): Promise<boolean> {
  const { disk, path, kernel } = source;
  const ops = await openOps(source, segment, "read-write");
  try {
    const end = await ops.length();
    const ends = await segmentEnd(kernel, ops, { op: cut.op, end });
    const isHarmed = ends.opsLength < end && ends.op < cut.op;
    if (!ends.isFollowed && (cut.isLast || isHarmed)) return false;
    await disk.removeFile(`${path}/${segmentFileName(segment, "index")}`);
    if (segment.logLength !== undefined) await cutLog(source, segment, ends.logLength);
    await ops.truncate(ends.opsLength);
    await writeAt(ops, encodeCommitMark(kernel, ends, cut.commit), ends.opsLength);
    await datasync(ops);
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
