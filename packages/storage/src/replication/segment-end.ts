import type { ChecksumKernel } from "@millrace/framing";
import type { DiskFile } from "@millrace/platform";
import { RecordKind } from "../op-record/record.ts";
import { scanRecords } from "../recovery/record-scan.ts";

/** Where the files of a segment end with an op. */
export interface SegmentEnd {
  readonly opsLength: number;
  /** Bytes of `opsLength` at its end that are notes of a next segment; 0 when something follows them. */
  readonly noteLength: number;
  readonly logLength: number;
  /** The op they end with; 0 when not even the first record belongs to it or to one before. */
  readonly op: number;
  readonly opChecksum: bigint;
  /** A later op follows behind. */
  readonly isFollowed: boolean;
}

const NOTHING = { opsLength: 0, noteLength: 0, logLength: 0, op: 0, opChecksum: 0n, isFollowed: false };

/**
 * Where the files of a segment end with `op`, or with the last good record before the first bad one.
 * @param ops  the open `.ops`
 * @param end  bytes of it that count
 * @throws CodedError what the disk answers
 */
export async function segmentEnd(
  kernel: ChecksumKernel,
  ops: DiskFile,
  { op, end }: { readonly op: number; readonly end: number },
): Promise<SegmentEnd> {
  let found: SegmentEnd = NOTHING;
  await scanRecords({ file: ops, kernel, from: 0, end }, (records) => {
    for (const { record, position } of records) {
      const { header, place } = record;
      if (record.kind === RecordKind.successor) {
        found = {
          ...found,
          opsLength: position + record.length,
          noteLength: found.noteLength + record.length,
        };
        continue;
      }
      if (header.op > op) {
        found = { ...found, isFollowed: true };
        return false;
      }
      const logLength = record.kind === RecordKind.batch ? place.position + place.length : found.logLength;
      const opsLength = position + record.length;
      found = { ...NOTHING, opsLength, logLength, op: header.op, opChecksum: header.checksum };
    }
    return true;
  });
  return found;
}
