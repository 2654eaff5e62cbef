import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import type { DiskFile } from "@millrace/platform";
import { type OpRecord, RecordKind } from "../op-record/record.ts";
import type { Commits } from "../partition/commits.ts";
import type { PartitionState } from "../partition/partition-state.ts";
import type { Segment } from "../segment/segment.ts";
import { LogWindow } from "./log-window.ts";
import { takeBehindDamage } from "./past-damage.ts";
import type { ProvenEnd } from "./proven-end.ts";
import { scanRecords } from "./record-scan.ts";
import { isNext, replayRecord } from "./replay.ts";
import { type TailFinding, TailSearch } from "./tail-search.ts";

/** What the recovery of an active segment works on. */
export interface ActiveSource {
  readonly state: PartitionState;
  readonly commits: Commits;
  readonly segment: Segment;
  /** Without a `.log` every record is taken at its word. */
  readonly files: { readonly ops: DiskFile; readonly log: DiskFile | undefined };
  /** Place in the `.ops` of the first record to replay. */
  readonly from: number;
  readonly opsLength: number;
  readonly logLength: number;
  /** Batches are synced before the next group is written. */
  readonly isPersisted: boolean;
  /** See `PartitionOptions`. */
  readonly isLossKnown: boolean;
  /** Hears of every record that is replayed; nothing for topics that sync nothing. */
  readonly proven: ProvenEnd | undefined;
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
}

/** How the replay of an active segment ended. */
export interface ActiveFinding extends TailFinding {
  /** A record that cannot be read may have changed stored offsets. */
  readonly offsetsUnknown: boolean;
}

/**
 * Replays the active segment from `from` on, checking every batch, up to the last op that verifies; then
 * judges what follows.
 *
 * Behind damage, every good record is taken into the state too, so that what is good stays readable, and the
 * caller sets a fault. Otherwise what follows is a torn tail for the caller to cut. Offsets that the tail
 * names were seen by somebody and count into `frontier`.
 */
export async function recoverActive(source: ActiveSource): Promise<ActiveFinding> {
  const { log } = source.files;
  const window = log && new LogWindow(log, source, source.state.identity.partitionId, source.logLength);
  try {
    const stop = await replayGood(source, window);
    const finding = await new TailSearch(source, window, stop).run();
    const offsetsUnknown = finding.damage !== undefined && !(await takeBehindDamage(source, window, stop));
    return { ...finding, offsetsUnknown };
  } finally {
    window?.release();
  }
}

/** Answers where in the `.ops` the first op lies that does not verify, or its end. */
async function replayGood(source: ActiveSource, window: LogWindow | undefined): Promise<number> {
  const { state, commits, segment } = source;
  let refusedAt: number | undefined;
  const range = { file: source.files.ops, kernel: source.kernel, from: source.from, end: source.opsLength };
  const scannedTo = await scanRecords(range, async (records) => {
    for (const { record, position } of records) {
      const isGood =
        isNext(state, segment, record) && (holdsNow(window, record) ?? (await holdsBatch(window, record)));
      if (!isGood) {
        refusedAt = position;
        return false;
      }
      replayRecord(state, commits, segment, record, position);
      source.proven?.note(record, segment);
    }
    return true;
  });
  return refusedAt ?? scannedTo;
}

/** The answer without waiting, when there is one: a start replays millions of records. */
function holdsNow(window: LogWindow | undefined, record: OpRecord): boolean | undefined {
  return window === undefined || record.kind !== RecordKind.batch || window.holdsNow(record.place);
}

async function holdsBatch(window: LogWindow | undefined, record: OpRecord): Promise<boolean> {
  return window === undefined || record.kind !== RecordKind.batch || (await window.holds(record.place));
}
