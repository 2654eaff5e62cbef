import type { Log } from "@millrace/platform";
import type { JournalRecord, MetadataJournal } from "@millrace/storage";
import { type Prepare, settle } from "@millrace/vsr";
import { executeOp } from "./execute-op.ts";
import { decodeSnapshot, emptySnapshot, type MetadataSnapshot } from "./snapshot.ts";

/**
 * Rebuilds catalog and client table: the snapshot, then every op of the journal above it, executed as it was.
 *
 * Effects are not carried out: partitions are compared with the catalog once it stands.
 * @throws CodedError MetadataDamaged, FormatTooNew
 */
export function recoverState(
  journal: MetadataJournal,
  options: { readonly clientsMax: number; readonly log: Log },
): MetadataSnapshot {
  const { snapshot, records } = journal;
  const start =
    snapshot === undefined
      ? emptySnapshot(options.clientsMax)
      : decodeSnapshot(snapshot.bytes, options.clientsMax);
  const { state } = start;
  let end = start.end;
  for (const record of records) {
    const { body } = executeOp(state.catalog, { ...record, session: Number(record.session) });
    settle(state.clientTable, prepareOf(record), body);
    const { op, view, checksum, timestamp } = record;
    end = { op, view, checksum, timestamp };
  }
  journal.releaseRecords();
  options.log.info("Metadata is recovered.", { op: end.op, replayed: end.op - start.end.op });
  return { state, end };
}

/**
 * The prepare a record was. Checksums of bodies are not journaled: a repeated request is known by its number.
 */
function prepareOf(record: JournalRecord): Prepare {
  return { ...record, session: Number(record.session), bodyChecksum: 0n, replica: 0, commit: record.op - 1 };
}
