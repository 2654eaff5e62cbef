import { type CodedError, ErrorCode } from "@millrace/errors";
import type { ChecksumKernel } from "@millrace/framing";
import type { PartitionState } from "../partition/partition-state.ts";
import { damaged } from "../recovery/damage.ts";
import type { ReadHandles } from "../segment/read-handles.ts";
import type { Segment } from "../segment/segment.ts";
import { type SegmentName, segmentFileName } from "../segment/segment-name.ts";
import { type SegmentEnd, segmentEnd } from "./segment-end.ts";

/** A file of a partition's state: so many bytes of it, from its beginning. */
export interface StateFile {
  /** Name in the partition's directory. */
  readonly name: string;
  readonly length: number;
}

/**
 * The state of a partition as of a committed op: files that never change as long as the partition holds
 * them. Retention and purges may take them away at any time.
 */
export interface StateDescription {
  readonly op: number;
  readonly opChecksum: bigint;
  readonly files: readonly StateFile[];
}

type SegmentLengths = Pick<SegmentEnd, "opsLength" | "logLength">;

/** What a state is described from. */
export interface DescribeSource {
  readonly kernel: ChecksumKernel;
  readonly state: PartitionState;
  readonly handles: ReadHandles;
}

/**
 * Describes the state as of the last committed op: the newest segment that begins with it or before, up to
 * that op, and the sealed ones before it as they are. What follows, begun by ops that are not committed yet,
 * is left out, and what those ops would take away is told: who lacks the state may be needed to commit them.
 * Nothing where no file holds a committed op.
 *
 * Costs a walk through the op records of the segments behind the last committed op.
 * @throws CodedError the partition's fault, `PartitionDamaged`, or what the disk answers
 */
export async function describeState(source: DescribeSource): Promise<StateDescription | undefined> {
  const { committedOp, kept, fault } = source.state;
  throwFault(fault);
  for (const [at, last] of [...kept.entries()].toReversed()) {
    const end = await endOf(source, last, committedOp);
    const { op, opChecksum } = end;
    if (op === 0) continue;
    if (op !== committedOp) throw unreadable(source.state.filePath(last, "ops"), end.opsLength);
    const before = kept.slice(0, at);
    for (const { damage } of [...before, last]) throwFault(damage);
    return { op, opChecksum, files: [...before.flatMap((one) => filesOf(one, one)), ...filesOf(last, end)] };
  }
  return undefined;
}

/** On a full disk what is there can be read. @throws CodedError */
function throwFault(fault: CodedError | undefined): void {
  if (fault !== undefined && fault.code !== ErrorCode.DiskFull) throw fault;
}

async function endOf({ state, handles, kernel }: DescribeSource, segment: Segment, op: number) {
  const { opsLength: end } = segment;
  const { file, done } = await handles.use(state.filePath(segment, "ops"));
  try {
    const found = await segmentEnd(kernel, file, { op, end });
    // Whoever gets the files never had the segment that it names.
    return { ...found, opsLength: found.opsLength - found.noteLength };
  } finally {
    done();
  }
}

function filesOf(name: SegmentName, lengths: SegmentLengths): StateFile[] {
  return [
    { name: segmentFileName(name, "log"), length: lengths.logLength },
    { name: segmentFileName(name, "ops"), length: lengths.opsLength },
  ];
}

function unreadable(path: string, position: number): CodedError {
  return damaged(`An op record of ${path} is damaged (position ${position}).`, { path, position });
}
