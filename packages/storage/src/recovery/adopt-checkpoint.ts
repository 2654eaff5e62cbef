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
  state.visibleGeneration = generation;
  state.committedOp = checkpoint.commit;
  state.committedNextOffset = checkpoint.committedNextOffset;
  state.offsets.clear();
  for (const { consumerKind, id, offset } of checkpoint.offsets) state.offsets.set(consumerKind, id, offset);
  if (checkpoint.commit < checkpoint.op) noteJournaledEnd(state);
}

/** Makes committing the last journaled op reveal everything up to the next offset. */
export function noteJournaledEnd(state: PartitionState): void {
  const { op, nextOffset, generation } = state.journaled;
  state.uncommitted.push({
    header: { ...NO_OP_HEADER, op },
    generation,
    endOffset: nextOffset,
    batch: undefined,
    small: undefined,
    done() {},
  });
}
