import { assert } from "@millrace/errors";
import type { DiskFile } from "@millrace/platform";
import { scanRecords } from "../recovery/record-scan.ts";
import { datasync } from "../segment/file-calls.ts";
import { type JournalStart, journalFileName } from "./journal-file.ts";
import { metadataDamaged } from "./metadata-damage.ts";
import { type JournalRecord, type JournalSource, journalRecordOf } from "./recover-journal.ts";

/** The newest journal file after a cut, open for writing. */
export interface CutJournal {
  readonly file: DiskFile;
  readonly length: number;
  /** The last op that is left. */
  readonly last: JournalStart;
}

/**
 * Takes every op above `op` out of the files, the newest first, so that a kill in between leaves a journal
 * that ends earlier or later, never one with a hole. `startOps` loses what was removed.
 * @throws CodedError what the disk answers
 */
export async function cutJournal(
  { disk, path, kernel }: JournalSource,
  startOps: number[],
  op: number,
): Promise<CutJournal> {
  while ((startOps.at(-1) ?? 0) > op) {
    await disk.removeFile(`${path}/${journalFileName(startOps.at(-1) ?? 0)}`);
    await disk.syncDirectory(path);
    startOps.pop();
  }
  const file = await disk.openFile(`${path}/${journalFileName(startOps.at(-1) ?? 0)}`, "read-write");
  let length = 0;
  let last: JournalStart | undefined;
  await scanRecords({ file, kernel, from: 0, end: await file.length() }, (records) => {
    for (const { record, position } of records) {
      if (record.header.op > op) return false;
      const { checksum, view } = record.header;
      last = { op: record.header.op, checksum, view };
      length = position + record.length;
    }
    return true;
  });
  assert(last?.op === op, "the op that is kept is journaled");
  await file.truncate(length);
  await datasync(file);
  return { file, length, last };
}

/**
 * Reads one op back; nothing when it lies before the oldest file.
 * @throws CodedError `MetadataDamaged` when the records end before it, or what the disk answers
 */
export async function readJournalOp(
  { disk, path, kernel }: JournalSource,
  startOps: readonly number[],
  op: number,
): Promise<JournalRecord | undefined> {
  const startOp = startOps.findLast((start) => start < op);
  if (startOp === undefined) return undefined;
  const filePath = `${path}/${journalFileName(startOp)}`;
  const file = await disk.openFile(filePath, "read");
  try {
    let found: JournalRecord | undefined;
    const position = await scanRecords({ file, kernel, from: 0, end: await file.length() }, (records) => {
      const here = records.find(({ record, position: at }) => at > 0 && record.header.op === op);
      if (here !== undefined) found = journalRecordOf(here.record);
      return here === undefined;
    });
    if (found === undefined) throw metadataDamaged(`op ${op} is not readable`, { path: filePath, position });
    return found;
  } finally {
    await file.close();
  }
}
