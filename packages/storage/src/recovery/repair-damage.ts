import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { makeDurableDirectory } from "../data-directory/durable-directory.ts";
import { SparseIndex } from "../index-file/sparse-index.ts";
import { encodeCheckpoint } from "../op-record/checkpoint.ts";
import { datasync, writeAt } from "../segment/file-calls.ts";
import { emptySegment, type Segment } from "../segment/segment.ts";
import { closeSegmentFiles, createSegmentFiles } from "../segment/segment-files.ts";
import type { SegmentName } from "../segment/segment-name.ts";
import { setAside } from "./quarantine.ts";
import type { RecoverySource } from "./recovery-source.ts";

/**
 * What becomes of stored consumer offsets when the damage hides whether they changed.
 * - `proven`: nothing is repaired then; the operator has to choose one of the others.
 * - `known`: those that can still be read count. A lost change makes a consumer go on earlier than it was,
 *   or,
 *   when it had set itself back, later.
 * - `none`: all are forgotten; consumers begin where they begin without one.
 */
export type RepairedOffsets = "proven" | "known" | "none";

/**
 * Offsets that segments which are gone with all their files may have given out, as far as a repair is
 * concerned: those of more than 200 full ones of 1 GiB with the smallest messages.
 */
const LOST_OFFSETS_MAX = 4_294_967_296;

/** What a repair did. */
export interface RepairReport {
  /** Why the partition took no writes: `PartitionDamaged` with file and position. */
  readonly damage: CodedError;
  /** First offset of the new segment: nothing that is damaged lies at or behind it. */
  readonly nextOffset: number;
  /** `proven` when the damage hid no stored offset, whatever was asked for. */
  readonly offsets: RepairedOffsets;
}

/**
 * Makes a damaged partition take writes again: what is there becomes a sealed segment as it is, and a new one
 * begins behind every offset that anybody may have seen. No byte is changed or removed: good batches stay
 * readable, damaged ones answer `PartitionDamaged`. Answers nothing when there is no damage of this kind or
 * stored offsets are in doubt and only proven ones are accepted.
 *
 * For a partition whose journaled ops all count, as on one node; a replica has peers to ask.
 */
export async function repairDamage(
  source: RecoverySource,
  accepted: RepairedOffsets,
): Promise<RepairReport | undefined> {
  const { state, commits } = source;
  const damage = state.fault;
  if (damage === undefined || !isCodedError(damage, ErrorCode.PartitionDamaged)) return undefined;
  const offsets = state.offsetsFault === undefined ? "proven" : accepted;
  if (state.offsetsFault !== undefined && accepted === "proven") return undefined;
  commits.commit(state.journaled.op);
  if (offsets === "none") state.offsets.clear();
  await beginBehind(source);
  state.fault = undefined;
  state.offsetsFault = undefined;
  state.isEndUnknown = false;
  const { nextOffset } = state.journaled;
  state.log.warn("A damaged partition was repaired: a new segment begins behind the damage.", {
    path: state.path,
    damage,
    nextOffset,
    offsets,
  });
  return { damage, nextOffset, offsets };
}

async function beginBehind(source: RecoverySource): Promise<void> {
  const { state, commits } = source;
  const { journaled } = state;
  const before = state.active;
  if (state.isEndUnknown) journaled.nextOffset += LOST_OFFSETS_MAX;
  const isNameTaken =
    before?.generation === journaled.generation && before.firstOffset === journaled.nextOffset;
  if (isNameTaken) journaled.nextOffset += 1;
  const next = emptySegment({ generation: journaled.generation, firstOffset: journaled.nextOffset });
  await keepWholeAside(source, next);
  if (before?.isEmpty === true) await keepWholeAside(source, before);
  await writeFirstRecord(source, next);
  if (before?.isEmpty === true) {
    state.segments = state.segments.filter((segment) => segment !== before);
    commits.removeFiles([before]);
  }
  state.segments.push(next);
}

async function writeFirstRecord(source: RecoverySource, next: Segment): Promise<void> {
  const { options, state } = source;
  const { disk, path, kernel, reservedLength = 0 } = options;
  await makeDurableDirectory(disk, path);
  const files = await createSegmentFiles(disk, path, next, reservedLength);
  try {
    const record = encodeCheckpoint(kernel, state.checkpoint(next, false));
    await writeAt(files.ops, record, 0);
    await datasync(files.ops);
    await disk.syncDirectory(path);
    next.opsLength = record.length;
    next.index = new SparseIndex();
  } finally {
    await closeSegmentFiles(files);
  }
}

/** Copies what files of this name hold: the new segment's are emptied, an empty segment's are removed. */
async function keepWholeAside({ options, state }: RecoverySource, name: SegmentName): Promise<void> {
  const { disk } = options;
  for (const kind of ["log", "ops"] as const) {
    const path = state.filePath(name, kind);
    const found = await disk.stat(path);
    if (found === undefined || found.length === 0) continue;
    const file = await disk.openFile(path, "read");
    try {
      await setAside(disk, { file, from: 0, end: found.length });
    } finally {
      await file.close();
    }
  }
}
