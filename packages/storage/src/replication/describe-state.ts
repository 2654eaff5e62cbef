import { type CodedError, ErrorCode } from "@millrace/errors";
import type { ChecksumKernel } from "@millrace/framing";
import type { PartitionState } from "../partition/partition-state.ts";
import { damaged } from "../recovery/damage.ts";
import type { ReadHandles } from "../segment/read-handles.ts";
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
 * Describes the state as of the last committed op: sealed segments as they are, the active one up to that op.
 * Nothing while the active segment begins behind ops that are not committed yet.
 *
 * Costs a walk through the op records of the active segment.
 * @throws CodedError the partition's fault, `PartitionDamaged`, or what the disk answers
 */
export async function describeState(source: DescribeSource): Promise<StateDescription | undefined> {
  const { state } = source;
  const fault = state.fault ?? state.segments.find(({ damage }) => damage !== undefined)?.damage;
  if (fault !== undefined && fault.code !== ErrorCode.DiskFull) throw fault;
  const { active, committedOp } = state;
  if (active === undefined) return undefined;
  const files = state.segments.filter((segment) => segment !== active).flatMap((one) => filesOf(one, one));
  const opsPath = state.filePath(active, "ops");
  const { opsLength: end } = active;
  const { file, done } = await source.handles.use(opsPath);
  try {
    const last = await segmentEnd(source.kernel, file, { op: committedOp, end });
    const { op, opChecksum } = last;
    if (op === 0) return undefined;
    if (op !== committedOp) throw unreadable(opsPath, last.opsLength);
    return { op, opChecksum, files: [...files, ...filesOf(active, last)] };
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
