import type { Log } from "@millrace/platform";
import type { JournalRecord, MetadataJournal } from "@millrace/storage";
import { type Prepare, settle } from "@millrace/vsr";
import { executeOp } from "./execute-op.ts";
import type { MetadataBody } from "./metadata-body.ts";
import { decodeSnapshot, emptySnapshot, type MetadataSnapshot } from "./snapshot.ts";

/** The state as of the last op that is known to be committed, and what the journal holds behind it. */
export interface RecoveredMetadata extends MetadataSnapshot {
  /** Ops whose fate the other replicas know, in order; none where there are no others. */
  readonly suffix: readonly Prepare[];
}

/**
 * Rebuilds catalog and client table: the snapshot, then every committed op of the journal above it, executed
 * as it was. Where this is the only replica everything in the journal is committed.
 *
 * Effects are not carried out: partitions are compared with the catalog once it stands.
 * @throws CodedError MetadataDamaged, FormatTooNew
 */
export function recoverState(
  journal: MetadataJournal,
  options: { readonly clientsMax: number; readonly isReplicated: boolean; readonly log: Log },
): RecoveredMetadata {
  const { snapshot, records } = journal;
  const start =
    snapshot === undefined
      ? emptySnapshot(options.clientsMax)
      : decodeSnapshot(snapshot.bytes, options.clientsMax);
  const { state } = start;
  const commit = options.isReplicated ? knownCommit(records) : Number.POSITIVE_INFINITY;
  let end = start.end;
  for (const record of records) {
    if (record.op > commit) break;
    const { body } = executeOp(state.catalog, { ...record, session: Number(record.session) });
    settle(state.clientTable, prepareOf(record), body);
    const { op, view, checksum, timestamp } = record;
    end = { op, view, checksum, timestamp };
  }
  const suffix = records.filter(({ op }) => op > end.op).map(prepareOf);
  journal.releaseRecords();
  options.log.info("Metadata is recovered.", { op: end.op, replayed: end.op - start.end.op });
  return { state, end, suffix };
}

/** Each op was journaled with the commit number its primary had then. */
function knownCommit(records: readonly JournalRecord[]): number {
  return records.reduce((known, { commit }) => Math.max(known, commit), 0);
}

/**
 * Journaled ops above the last executed one, in order, as a start finds them.
 * @throws CodedError MetadataDamaged; what the disk answers
 */
export async function readSuffix(journal: MetadataJournal, executed: number): Promise<readonly Prepare[]> {
  const suffix: Prepare[] = [];
  for (let op = executed + 1; op <= journal.lastOp; op += 1) {
    const record = await journal.read(op);
    if (record !== undefined) suffix.push(prepareOf(record));
  }
  return suffix;
}

/** The prepare a journaled op was. */
export function prepareOf({ session, body: bytes, ...header }: JournalRecord): Prepare {
  const body: MetadataBody = { bytes, request: undefined };
  return { ...header, session: Number(session), body, replica: 0 };
}
