import type { OpRecord } from "../op-record/record.ts";
import { RecordKind } from "../op-record/record.ts";
import { emptySegment } from "../segment/segment.ts";
import { damaged } from "./damage.ts";
import { scanRecords } from "./record-scan.ts";
import type { RecoverySource } from "./recovery-source.ts";
import { isNext } from "./replay.ts";
import { type ReplayFinding, replaySegment } from "./replay-segment.ts";
import type { FoundSegment } from "./scan-directory.ts";

/**
 * Goes on with a segment whose first record is damaged, when nothing is lost by that: its first good op names
 * the op at which the state stands, so the state is what the record said. Answers nothing, with the state
 * untouched, when that is not so. The partition takes no writes afterwards.
 */
export async function continueInto(
  source: RecoverySource,
  found: FoundSegment,
): Promise<ReplayFinding | undefined> {
  const { options, state } = source;
  const { journaled } = state;
  if (found.generation !== journaled.generation || found.firstOffset < journaled.nextOffset) return undefined;
  const first = await firstOp(source, found);
  const segment = emptySegment(found);
  if (first === undefined || !isNext(state, segment, first.record)) return undefined;
  const path = state.filePath(found, "ops");
  state.fault ??= damaged(`The first record of ${path} is damaged.`, { path, position: 0 });
  state.segments.push(segment);
  journaled.nextOffset = found.firstOffset;
  const { disk } = options;
  const ops = await disk.openFile(path, "read");
  const hasLog = found.logLength !== undefined;
  const log = hasLog ? await disk.openFile(state.filePath(found, "log"), "read") : undefined;
  try {
    return await replaySegment(source, segment, { found, files: { ops, log }, from: first.position });
  } finally {
    await Promise.all([ops, log].map((file) => file?.close().catch(() => undefined)));
  }
}

/** The first good record of an op in the segment's `.ops`, and where it lies. */
async function firstOp(
  { options, state }: RecoverySource,
  found: FoundSegment,
): Promise<{ readonly record: OpRecord; readonly position: number } | undefined> {
  if ((found.opsLength ?? 0) === 0) return undefined;
  const file = await options.disk.openFile(state.filePath(found, "ops"), "read");
  let first: { record: OpRecord; position: number } | undefined;
  try {
    const range = { file, kernel: options.kernel, from: 0, end: found.opsLength ?? 0 };
    await scanRecords(
      range,
      (records) => {
        const op = records.find(
          ({ record: { kind } }) => kind === RecordKind.batch || kind === RecordKind.operation,
        );
        if (op !== undefined) first = { ...op, record: { ...op.record, body: op.record.body.slice() } };
        return op === undefined;
      },
      "search",
    );
  } finally {
    await file.close();
  }
  return first;
}
