import type { CodedError } from "@millrace/errors";
import type { SparseIndex } from "../index-file/sparse-index.ts";
import type { PartitionState } from "../partition/partition-state.ts";
import { Segment } from "../segment/segment.ts";
import type { SegmentName } from "../segment/segment-name.ts";
import { noteJournaledEnd } from "./adopt-checkpoint.ts";

/** What is known of a segment that cannot be told to continue the state. */
export interface Unproven {
  readonly error: CodedError;
  /** First offset behind what it may hold. */
  readonly end: number;
  /** The segment that its records say was begun behind it. */
  readonly successor?: SegmentName | undefined;
  /** The batches that verify; absent when there are none. */
  readonly batches?: {
    readonly index: SparseIndex;
    readonly logLength: number;
    readonly lastTimestamp: number;
  };
}

/** Lists the segment, up to its end, with the batches that verify, and takes no more writes. */
export function listUnproven(
  state: PartitionState,
  name: SegmentName,
  { error, end, successor, batches }: Unproven,
): void {
  const { generation, firstOffset } = name;
  const { logLength = 0, lastTimestamp = 0 } = batches ?? {};
  const segment = new Segment(generation, {
    firstOffset,
    endOffset: end,
    logLength,
    opsLength: 0,
    lastTimestamp: Math.max(state.journaled.timestamp, lastTimestamp),
  });
  segment.index = batches?.index;
  segment.successor = successor;
  if (logLength === 0) segment.damage = error;
  state.segments.push(segment);
  state.visibleGeneration = Math.max(state.visibleGeneration, generation);
  state.journaled.generation = Math.max(state.journaled.generation, generation);
  state.journaled.nextOffset = Math.max(state.journaled.nextOffset, end);
  state.fault ??= error;
  state.offsetsFault ??= error;
  noteJournaledEnd(state, state.journaled.nextOffset);
}
