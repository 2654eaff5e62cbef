import type { ChecksumKernel } from "@millrace/framing";
import type { Disk } from "@millrace/platform";
import { SparseIndex } from "../index-file/sparse-index.ts";
import { encodeCheckpoint } from "../op-record/checkpoint.ts";
import { writeAt } from "../segment/file-calls.ts";
import { emptySegment, type Segment } from "../segment/segment.ts";
import { createSegmentFiles, dropSegmentFiles, type SegmentFiles } from "../segment/segment-files.ts";
import type { PartitionState } from "./partition-state.ts";

/** What a segment is made from. */
export interface NextSegmentParts {
  readonly disk: Disk;
  readonly kernel: ChecksumKernel;
  readonly state: PartitionState;
  /** Bytes of space asked for. */
  readonly reservedLength: number;
}

/** A segment that has its files and is not the active one yet. */
export interface NextSegment {
  readonly next: Segment;
  /** The caller closes them. */
  readonly files: SegmentFiles;
  /** What its checkpoint says is committed. */
  readonly commit: number;
}

/**
 * Makes the files of the segment that follows what is journaled, with a checkpoint of that in front. Nothing
 * is synced.
 *
 * @throws CodedError when they cannot be made; then there are none
 */
export async function createNextSegment(
  { disk, kernel, state, reservedLength }: NextSegmentParts,
  firstOffset: number,
): Promise<NextSegment> {
  const name = { generation: state.journaled.generation, firstOffset };
  const next = emptySegment(name);
  const files = await createSegmentFiles(disk, state.path, name, reservedLength);
  try {
    const checkpoint = state.checkpoint(next, false);
    const record = encodeCheckpoint(kernel, checkpoint);
    await writeAt(files.ops, record, 0);
    next.opsLength = record.length;
    next.index = new SparseIndex();
    return { next, files, commit: checkpoint.commit };
  } catch (error) {
    await dropSegmentFiles(disk, state.path, name, files);
    throw error;
  }
}
