import type { Checkpoint } from "../op-record/checkpoint.ts";
import { NO_OP_HEADER } from "../op-record/record.ts";
import type { PartitionState } from "../partition/partition-state.ts";
import { Segment } from "../segment/segment.ts";

/** Sets the state to what a checkpoint says; ops after it follow by replay. */
export function adoptCheckpoint(state: PartitionState, checkpoint: Checkpoint): void {
  const { generation } = checkpoint;
  state.segments = [...checkpoint.sealed, checkpoint.active].map((row) => new Segment(generation, row));
  state.journaled = {
    op: checkpoint.op,
    opChecksum: checkpoint.opChecksum,
    view: checkpoint.view,
    timestamp: checkpoint.timestamp,
    nextOffset: checkpoint.nextOffset,
    generation,
  };
  state.adoptedOp = checkpoint.op;
  state.visibleGeneration = generation;
  state.committedOp = checkpoint.commit;
  state.committedNextOffset = checkpoint.committedNextOffset;
  state.offsets.clear();
  for (const { consumerKind, id, offset } of checkpoint.offsets) state.offsets.set(consumerKind, id, offset);
  state.requests.clear();
  for (const request of checkpoint.requests) state.requests.note(request);
  if (checkpoint.commit < checkpoint.op) noteJournaledEnd(state, messagesEnd(state, checkpoint));
}

/**
 * Behind the last message; the next offset lies beyond it when a torn tail left a hole before the active
 * segment.
 */
function messagesEnd({ segments }: PartitionState, { committedNextOffset }: Checkpoint): number {
  const ends = segments.filter((segment) => !segment.isEmpty).map((segment) => segment.endOffset);
  return Math.max(committedNextOffset, ...ends);
}

/** Makes committing the last journaled op reveal everything up to `endOffset`. */
export function noteJournaledEnd(state: PartitionState, endOffset: number): void {
  const { op, generation } = state.journaled;
  state.uncommitted.push({
    header: { ...NO_OP_HEADER, op },
    generation,
    endOffset,
    batch: undefined,
    small: undefined,
    request: undefined,
    done() {},
  });
}
