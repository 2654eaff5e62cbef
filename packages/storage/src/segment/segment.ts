import type { CodedError } from "@millrace/errors";
import type { SparseIndex } from "../index-file/sparse-index.ts";
import type { SegmentRow } from "../op-record/checkpoint.ts";
import type { SegmentName } from "./segment-name.ts";

/**
 * One segment of a partition: what is known about its files. The last one of the list is active and grows.
 *
 * Offsets inside a segment have no holes; a hole lies between two segments.
 */
export class Segment implements SegmentName {
  readonly generation: number;
  readonly firstOffset: number;
  /** First offset behind what is written. */
  endOffset: number;
  /** Good bytes in the `.log`; what lies behind them is nobody's. */
  logLength: number;
  /** Good bytes in the `.ops`. */
  opsLength: number;
  /** Base timestamp of the last batch, micros; 0 while empty. */
  lastTimestamp: number;
  /** In memory for the active segment, loaded on demand for the others. */
  index: SparseIndex | undefined;
  /** Why no byte of this segment can be served: a file is gone. */
  damage: CodedError | undefined;
  /** The segment that was begun behind this one, when its last record, as it was read back, says so. */
  successor: SegmentName | undefined;

  constructor(generation: number, row: SegmentRow) {
    this.generation = generation;
    this.firstOffset = row.firstOffset;
    this.endOffset = row.endOffset;
    this.logLength = row.logLength;
    this.opsLength = row.opsLength;
    this.lastTimestamp = row.lastTimestamp;
  }

  get isEmpty(): boolean {
    return this.endOffset === this.firstOffset;
  }

  /** The segment as a row of a checkpoint's table. */
  row(): SegmentRow {
    const { firstOffset, endOffset, logLength, opsLength, lastTimestamp } = this;
    return { firstOffset, endOffset, logLength, opsLength, lastTimestamp };
  }
}

/** An empty segment that starts at `firstOffset`. */
export function emptySegment(name: SegmentName): Segment {
  const { generation, firstOffset } = name;
  return new Segment(generation, {
    firstOffset,
    endOffset: firstOffset,
    logLength: 0,
    opsLength: 0,
    lastTimestamp: 0,
  });
}
