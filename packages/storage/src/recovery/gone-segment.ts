import { damaged } from "./damage.ts";
import type { RecoverySource } from "./recovery-source.ts";
import { listUnproven } from "./unproven-segment.ts";

/**
 * Judges a state that ends with a segment whose last record says that another one was begun behind it: that
 * one is gone, or nothing of it can be told from one that never began. What was acknowledged in it is gone
 * too. A replica may have lost that, which is told before anything is changed; else it is a fault, also for
 * the stored offsets, and nobody knows where the offsets that were given out end.
 *
 * @returns true when it is so
 */
export async function judgeGone({ options, state }: RecoverySource): Promise<boolean> {
  const next = state.active?.successor;
  if (next === undefined) return false;
  const path = state.filePath(next, "ops");
  const facts = { path, position: 0, firstOffset: next.firstOffset };
  if (options.isReplica === true) {
    state.log.error(
      "The newest segment of a partition is gone; the replica may have lost what it held.",
      facts,
    );
    if (options.role === "exclusive") await options.onSegmentGone?.();
    return true;
  }
  const error = damaged(
    `The newest segment is gone: ${path} is missing, or nothing can be read of it.`,
    facts,
  );
  listUnproven(state, next, { error, end: next.firstOffset + 1 });
  state.isEndUnknown = true;
  return true;
}
