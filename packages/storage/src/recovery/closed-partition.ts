import { decodeIndex, INDEX_LENGTH_MAX } from "../index-file/index-file.ts";
import type { SparseIndex } from "../index-file/sparse-index.ts";
import type { SegmentRow } from "../op-record/checkpoint.ts";
import type { SegmentFiles } from "../segment/segment-files.ts";
import { adoptCheckpoint } from "./adopt-checkpoint.ts";
import { type Base, readClosing } from "./find-base.ts";
import { LogWindow } from "./log-window.ts";
import type { RecoverySource } from "./recovery-source.ts";

/**
 * State of a partition that was closed cleanly, without replaying its ops: the closing checkpoint and the
 * saved index say it all, and the last stretch of the `.log` verifies.
 *
 * Answers false, with the state untouched, when any of that does not hold.
 */
export async function recoverClosed(
  source: RecoverySource,
  base: Base,
  files: SegmentFiles,
): Promise<boolean> {
  const { options, state } = source;
  const closing = await readClosing(options.kernel, files.ops, base.segment.opsLength ?? 0);
  if (closing === undefined) return false;
  const { active, generation } = closing.checkpoint;
  if (active.logLength !== base.segment.logLength || active.opsLength !== closing.position) return false;
  if (active.firstOffset !== base.segment.firstOffset || generation !== base.segment.generation) return false;
  const index = await readIndex(source, base, active);
  if (index === undefined || !(await endVerifies(source, files, index, active))) return false;
  adoptCheckpoint(state, closing.checkpoint);
  if (state.active !== undefined) state.active.index = index;
  return true;
}

async function readIndex(
  source: RecoverySource,
  base: Base,
  active: SegmentRow,
): Promise<SparseIndex | undefined> {
  const path = source.state.filePath(base.segment, "index");
  const bytes = await source.options.disk.readWhole(path, INDEX_LENGTH_MAX).catch(() => undefined);
  return bytes === undefined ? undefined : decodeIndex(bytes, active);
}

/** True when the batches from the last index entry on verify and reach exactly the end. */
async function endVerifies(
  source: RecoverySource,
  files: SegmentFiles,
  index: SparseIndex,
  active: SegmentRow,
): Promise<boolean> {
  const last = index.entry(index.count - 1);
  if (last === undefined) return active.logLength === 0;
  const window = new LogWindow(
    files.log,
    source.options,
    source.state.identity.partitionId,
    active.logLength,
  );
  try {
    let { position, offset: next } = last;
    while (position < active.logLength) {
      const batch = await window.batchAt(position, active.logLength - position);
      if (batch === undefined || batch.baseOffset !== next) return false;
      next += batch.count;
      position += batch.length;
    }
    return next === active.endOffset;
  } finally {
    window.release();
  }
}
