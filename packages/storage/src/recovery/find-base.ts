import type { ChecksumKernel } from "@millrace/framing";
import type { Disk, DiskFile, Log } from "@millrace/platform";
import {
  type Checkpoint,
  decodeCheckpoint,
  lengthFromTrailer,
  type PartitionIdentity,
  sameIdentity,
  TRAILER_LENGTH,
} from "../op-record/checkpoint.ts";
import {
  claimedRecordLength,
  RECORD_BODY_LENGTH_MAX,
  RECORD_HEADER_LENGTH,
  readRecord,
} from "../op-record/record.ts";
import { viewOver } from "../op-record/u64-field.ts";
import { readAt } from "../segment/file-calls.ts";
import { segmentFileName } from "../segment/segment-name.ts";
import type { FoundSegment } from "./scan-directory.ts";

/**
 * Bytes read of a file's beginning or end at once. The checkpoint of a partition with few segments and
 * offsets is in them, so that a start with thousands of partitions takes one read for each.
 */
const FIRST_READ_LENGTH = 4096;

/** The newest segment whose first record is good, and what its file names say about the others. */
export interface Base {
  readonly segment: FoundSegment;
  readonly checkpoint: Checkpoint;
  /** Length of the first record. */
  readonly recordLength: number;
}

/**
 * What was found: a base unless no `.ops` begins with a good record, and the newer segments that are no base.
 */
export interface BaseSearch {
  readonly base: Base | undefined;
  /** Segments newer than the base without a good first record, newest first. */
  readonly leftovers: readonly FoundSegment[];
}

/**
 * Looks for the segment whose `.ops` begins with the latest good checkpoint of this partition: the state is
 * in it alone. Segments of another partition, or copied to another name, are warned about and ignored.
 */
export async function findBase(
  source: { readonly disk: Disk; readonly path: string; readonly kernel: ChecksumKernel; readonly log: Log },
  identity: PartitionIdentity,
  found: readonly FoundSegment[],
): Promise<BaseSearch> {
  const leftovers: FoundSegment[] = [];
  for (const segment of found.toReversed()) {
    const first = await readFirst(source, segment);
    if (first === undefined) leftovers.push(segment);
    else if (isOwn(first.checkpoint, identity, segment)) return { base: { segment, ...first }, leftovers };
    else warnForeign(source, segment);
  }
  return { base: undefined, leftovers };
}

function isOwn(checkpoint: Checkpoint, identity: PartitionIdentity, segment: FoundSegment): boolean {
  return (
    sameIdentity(checkpoint.identity, identity) &&
    checkpoint.generation === segment.generation &&
    checkpoint.active.firstOffset === segment.firstOffset
  );
}

function warnForeign(source: { readonly path: string; readonly log: Log }, segment: FoundSegment): void {
  const path = `${source.path}/${segmentFileName(segment, "ops")}`;
  source.log.warn("A segment of another partition or under another name is ignored.", { path });
}

async function readFirst(
  source: { readonly disk: Disk; readonly path: string; readonly kernel: ChecksumKernel },
  segment: FoundSegment,
): Promise<{ checkpoint: Checkpoint; recordLength: number } | undefined> {
  if ((segment.opsLength ?? 0) < RECORD_HEADER_LENGTH) return undefined;
  const file = await source.disk.openFile(`${source.path}/${segmentFileName(segment, "ops")}`, "read");
  try {
    const opsLength = segment.opsLength ?? 0;
    const beginning = await readBytes(file, 0, Math.min(FIRST_READ_LENGTH, opsLength));
    if (beginning.length < RECORD_HEADER_LENGTH) return undefined;
    const length = claimedRecordLength(viewOver(beginning), 0);
    if (length === 0) return undefined;
    const bytes = length <= beginning.length ? beginning : await readBytes(file, 0, length);
    return readCheckpoint(source.kernel, bytes, { position: 0, length });
  } finally {
    await file.close();
  }
}

/** The bytes from `position` on; fewer than `length` when the file ends before. */
async function readBytes(file: DiskFile, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  return bytes.subarray(0, await readAt(file, bytes, position));
}

/** The checkpoint record at a place of what was read, or nothing when no good one is there. */
function readCheckpoint(
  kernel: ChecksumKernel,
  bytes: Uint8Array,
  place: { readonly position: number; readonly length: number },
): { checkpoint: Checkpoint; recordLength: number } | undefined {
  if (bytes.length < place.position + place.length) return undefined;
  const own = bytes.subarray(place.position, place.position + place.length);
  const record = readRecord(kernel, own, viewOver(own), 0);
  const checkpoint = record === undefined ? undefined : decodeCheckpoint(record);
  if (record === undefined || checkpoint === undefined) return undefined;
  return { checkpoint, recordLength: record.length };
}

/**
 * The closing checkpoint an `.ops` of `opsLength` bytes ends with, and where it starts; nothing when the
 * partition was not closed cleanly or something followed.
 */
export async function readClosing(
  kernel: ChecksumKernel,
  file: DiskFile,
  opsLength: number,
): Promise<{ readonly checkpoint: Checkpoint; readonly position: number } | undefined> {
  if (opsLength < RECORD_HEADER_LENGTH) return undefined;
  const ending = await readBytes(file, Math.max(0, opsLength - FIRST_READ_LENGTH), FIRST_READ_LENGTH);
  const length = lengthFromTrailer(ending.subarray(Math.max(0, ending.length - TRAILER_LENGTH)));
  const isPossible =
    length >= RECORD_HEADER_LENGTH && length <= RECORD_BODY_LENGTH_MAX && length <= opsLength;
  if (!isPossible) return undefined;
  const position = opsLength - length;
  const bytes = length <= ending.length ? ending : await readBytes(file, position, length);
  const found = readCheckpoint(kernel, bytes, { position: bytes.length - length, length });
  return found?.checkpoint.closing === true ? { checkpoint: found.checkpoint, position } : undefined;
}
