import { CodedError, ErrorCode } from "@millrace/errors";
import type { DiskFile } from "@millrace/platform";
import { makeDurableDirectory } from "../data-directory/durable-directory.ts";
import { RECORD_HEADER_LENGTH } from "../op-record/record.ts";
import { writeAgain } from "../recovery/write-again.ts";
import { openSuperblock, type Superblock } from "../superblock/superblock.ts";
import { createJournalFile, journalFileName } from "./journal-file.ts";
import { metadataDamaged } from "./metadata-damage.ts";
import { MetadataJournal } from "./metadata-journal.ts";
import {
  type JournalSource,
  listJournals,
  type RecoveredJournal,
  recoverJournal,
} from "./recover-journal.ts";
import { type MetadataSnapshot, readSnapshot, snapshotPath } from "./snapshot-file.ts";

/**
 * Opens the metadata directory, making it when it holds nothing, and recovers snapshot and journal.
 *
 * Only a torn end of the newest journal is cut, and kept in quarantine.
 * @throws CodedError `MetadataDamaged` naming file and position for anything else that is not whole: a
 *         damaged or missing snapshot, a superblock newer than it, a hole in the chain of ops;
 *         `FormatTooNew`; `FeatureUnavailable` for the role `shared`
 */
export async function openMetadataJournal(source: JournalSource): Promise<MetadataJournal> {
  const { disk, path, kernel, log, role } = source;
  if (role === "shared") {
    throw new CodedError(ErrorCode.FeatureUnavailable, "The metadata journal has one writing process.", {
      details: { role },
    });
  }
  if (role === "exclusive") await makeDurableDirectory(disk, path);
  const superblock = await openSuperblock(disk, path, kernel, log);
  const snapshot = await readSnapshot(source);
  checkSnapshot(source, superblock, snapshot);
  const all = await listJournals(source);
  checkJournalExists(source, superblock, snapshot, all);
  const recovered = await recoverJournal(source, snapshot, all);
  if (role === "read-only")
    return new MetadataJournal(source, { ...recovered, superblock, snapshot, file: undefined });
  const { startOps, length } = await withFirstFile(source, superblock, recovered);
  const newest = startOps[startOps.length - 1] ?? 0;
  const file = await disk.openFile(`${path}/${journalFileName(newest)}`, "read-write");
  try {
    await makeSure(source, file, length);
  } catch (error) {
    await file.close();
    throw error;
  }
  return new MetadataJournal(source, { ...recovered, startOps, length, superblock, snapshot, file });
}

/**
 * Puts on the disk what was read back, before it counts: the process before may have died, or its datasync
 * failed, between a write or a rename and its promise. The file holds the ops of one checkpoint to the next.
 */
async function makeSure(source: JournalSource, file: DiskFile, length: number): Promise<void> {
  await writeAgain(file, { from: 0, end: length });
  await source.disk.syncDirectory(source.path);
}

async function withFirstFile(
  source: JournalSource,
  superblock: Superblock,
  recovered: Pick<RecoveredJournal, "startOps" | "length" | "last" | "endsBeforeSnapshot">,
): Promise<{ startOps: number[]; length: number }> {
  if (recovered.startOps.length > 0 && !recovered.endsBeforeSnapshot) {
    if (superblock.record.sequence === 0) await superblock.write({});
    return recovered;
  }
  const { last } = recovered;
  await createJournalFile(source, last);
  await superblock.write({});
  return { startOps: [...recovered.startOps, last.op], length: RECORD_HEADER_LENGTH };
}

function checkSnapshot(
  source: JournalSource,
  superblock: Superblock,
  snapshot: MetadataSnapshot | undefined,
): void {
  const { checkpointOp } = superblock.record;
  if ((snapshot?.op ?? 0) >= checkpointOp) return;
  const what =
    snapshot === undefined
      ? `the snapshot of op ${checkpointOp} is missing`
      : `the snapshot is of op ${snapshot.op}, the superblock knows one of op ${checkpointOp}`;
  throw metadataDamaged(what, { path: snapshotPath(source.path), position: 0 });
}

/**
 * The first superblock is written after the first journal, so with one, or a snapshot, a journal must be
 * there.
 */
function checkJournalExists(
  source: JournalSource,
  superblock: Superblock,
  snapshot: MetadataSnapshot | undefined,
  all: readonly number[],
): void {
  if (all.length > 0 || (superblock.record.sequence === 0 && snapshot === undefined)) return;
  throw metadataDamaged("the journal is missing", {
    path: `${source.path}/${journalFileName(snapshot?.op ?? 0)}`,
    position: 0,
  });
}
