import type { Log } from "@millrace/platform";
import type { MetadataJournal } from "@millrace/storage";
import { settle } from "@millrace/vsr";
import { executeOp } from "./execute-op.ts";
import { decodeSnapshot, emptyState, type MetadataState } from "./snapshot.ts";

/** Where the metadata group's log ends. */
export interface LogEnd {
  readonly op: number;
  readonly view: number;
  /** Checksum of `op`, 0n before the first op. */
  readonly checksum: bigint;
  /** Micros of the latest op, so that stamps never go back. */
  readonly timestamp: number;
}

/**
 * Rebuilds catalog and client table: the snapshot, then every op of the journal above it, executed as it was.
 *
 * Effects are not carried out: partitions are compared with the catalog once it stands.
 * @throws CodedError MetadataDamaged, FormatTooNew
 */
export function recoverState(
  journal: MetadataJournal,
  options: { readonly clientsMax: number; readonly log: Log },
): { readonly state: MetadataState; readonly end: LogEnd } {
  const { snapshot, records } = journal;
  const state =
    snapshot === undefined
      ? emptyState(options.clientsMax)
      : decodeSnapshot(snapshot.bytes, options.clientsMax);
  for (const record of records) {
    const { body } = executeOp(state.catalog, record);
    settle(state.clientTable, { ...record, bodyChecksum: 0n, replica: 0, commit: record.op - 1 }, body);
  }
  const { lastOp, lastOpChecksum, lastView, lastTimestamp } = journal;
  options.log.info("Metadata is recovered.", { op: lastOp, replayed: records.length });
  return {
    state,
    end: { op: lastOp, view: lastView, checksum: lastOpChecksum, timestamp: lastTimestamp },
  };
}
