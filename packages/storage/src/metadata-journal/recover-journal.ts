import type { ChecksumKernel } from "@millrace/framing";
import type { Disk, DiskFile, Log } from "@millrace/platform";
import { recordBeforeChange } from "../op-record/changed-bit.ts";
import {
  claimedRecordLength,
  type OpRecord,
  RECORD_BODY_LENGTH_MAX,
  RecordKind,
} from "../op-record/record.ts";
import { viewOver } from "../op-record/u64-field.ts";
import type { StorageRole } from "../partition/partition-options.ts";
import { setAside } from "../recovery/quarantine.ts";
import { scanRecords } from "../recovery/record-scan.ts";
import { datasync, readAt } from "../segment/file-calls.ts";
import {
  type JournalHeader,
  type JournalStart,
  journalFileName,
  parseJournalFileName,
} from "./journal-file.ts";
import { metadataDamaged } from "./metadata-damage.ts";
import type { MetadataSnapshot } from "./snapshot-file.ts";

/** One op of the metadata group as the journal kept it; the body is the record's own. */
export interface JournalRecord extends JournalHeader {
  readonly body: Uint8Array;
}

/** What the metadata's files live on. */
export interface JournalSource {
  readonly disk: Disk;
  /** Directory of the metadata, relative to the disk's root. */
  readonly path: string;
  readonly kernel: ChecksumKernel;
  readonly log: Log;
  readonly role: StorageRole;
}

/** The journal as recovered. */
export interface RecoveredJournal {
  /** Ops above the snapshot, in order. */
  readonly records: JournalRecord[];
  /** Last op of all, the snapshot's when none follows it. */
  readonly last: JournalStart;
  /** The snapshot is of a later op than the journal holds: another replica's, whose journal was not begun. */
  readonly endsBeforeSnapshot: boolean;
  /** Start ops of the files that are there, oldest first; empty when there is no journal yet. */
  readonly startOps: number[];
  /** Good bytes in the newest file. */
  readonly length: number;
}

/** Bytes a device writes at once or not at all, at least. */
const SECTOR_LENGTH = 512;

/** Start ops of the journal files in the directory; other names are left to themselves. */
export async function listJournals(source: JournalSource): Promise<number[]> {
  const startOps: number[] = [];
  for (const entry of await source.disk.readDirectory(source.path)) {
    const startOp = entry.kind === "file" ? parseJournalFileName(entry.name) : undefined;
    if (startOp !== undefined) startOps.push(startOp);
    else if (!/^(superblock\.[ab]|snapshot\.bin|views\.wal|machine-run)$/.test(entry.name)) {
      source.log.warn("A file that is not part of the metadata is ignored.", {
        path: `${source.path}/${entry.name}`,
      });
    }
  }
  return startOps.toSorted((a, b) => a - b);
}

/**
 * Reads the journal files that follow the snapshot, checks the chain from op to op, and cuts a torn end of
 * the newest.
 * @throws CodedError `MetadataDamaged` for anything else that does not fit, with file and position
 */
export async function recoverJournal(
  source: JournalSource,
  snapshot: MetadataSnapshot | undefined,
  all: readonly number[],
): Promise<RecoveredJournal> {
  const snapshotOp = snapshot?.op ?? 0;
  const first = all.findLastIndex((startOp) => startOp <= snapshotOp);
  const startOps = first < 0 ? [] : all.slice(first);
  if (first < 0 && all.length > 0) {
    const path = `${source.path}/${journalFileName(all[0] ?? 0)}`;
    throw metadataDamaged(`the journal begins behind op ${snapshotOp}, where the snapshot ends`, {
      path,
      position: 0,
    });
  }
  const chain = new Chain(source.path, snapshot);
  let length = 0;
  for (const [index, startOp] of startOps.entries()) {
    length = await readJournal(source, chain, { startOp, isNewest: index === startOps.length - 1 });
  }
  const endsBeforeSnapshot = startOps.length > 0 && chain.lastRead < snapshotOp;
  return { records: chain.records, last: chain.last, endsBeforeSnapshot, startOps, length };
}

async function readJournal(
  source: JournalSource,
  chain: Chain,
  which: { readonly startOp: number; readonly isNewest: boolean },
): Promise<number> {
  const path = `${source.path}/${journalFileName(which.startOp)}`;
  const mayCut = which.isNewest && source.role === "exclusive";
  const file = await source.disk.openFile(path, mayCut ? "read-write" : "read");
  try {
    const end = await file.length();
    const range = { file, kernel: source.kernel, from: 0, end };
    const good = await scanRecords(range, (records) => {
      for (const { record, position } of records) chain.take(which.startOp, path, position, record);
      return true;
    });
    if (good === 0) throw metadataDamaged("the journal has no readable first record", { path, position: 0 });
    if (good < end) {
      await judgeEnd(source, file, { good, end, isNewest: which.isNewest, lastOp: chain.lastRead });
    }
    return good;
  } finally {
    await file.close();
  }
}

/** The end of a journal behind its last good record. */
interface JournalEnd {
  readonly good: number;
  readonly end: number;
  readonly isNewest: boolean;
  /** Op of the last good record. */
  readonly lastOp: number;
}

/** Cuts what lies behind the last good record when a crash can have left it so; refuses otherwise. */
async function judgeEnd(source: JournalSource, file: DiskFile, at: JournalEnd): Promise<void> {
  const place = { path: file.path, position: at.good };
  if (!at.isNewest) throw metadataDamaged("an older journal does not end with a whole record", place);
  if (await isFollowed(source, file, at))
    throw metadataDamaged("whole records follow one that is not", place);
  if (await isWholeButWrong(source, file, at))
    throw metadataDamaged("a record does not match its checksum", place);
  if (source.role !== "exclusive") return;
  const kept = await setAside(source.disk, { file, from: at.good, end: at.end });
  source.log.warn("A torn end of the metadata journal was cut; it was kept aside.", { ...place, kept });
  await file.truncate(at.good);
  await datasync(file);
}

/** True when a record of a later write follows: the one before it was synced by then. */
async function isFollowed({ kernel }: JournalSource, file: DiskFile, at: JournalEnd): Promise<boolean> {
  let isFound = false;
  await scanRecords(
    { file, kernel, from: at.good, end: at.end },
    (records) => {
      isFound = records.some(({ record }) => record.header.op - record.groupPlace > at.lastOp + 1);
      return !isFound;
    },
    "search",
  );
  return isFound;
}

/**
 * True when all bytes of the bad record are there and none of its sectors is blank: a write that a crash cut
 * short leaves the record short or a sector of it zero, so this one was whole once. So was one that a single
 * bit makes whole again: a record may have zeros of its own in a sector.
 */
async function isWholeButWrong({ kernel }: JournalSource, file: DiskFile, at: JournalEnd): Promise<boolean> {
  const bytes = new Uint8Array(Math.min(RECORD_BODY_LENGTH_MAX, at.end - at.good));
  await readAt(file, bytes, at.good);
  const length = claimedRecordLength(viewOver(bytes), 0);
  const isWhole = length > 0 && length <= bytes.length && !hasBlankSector(bytes.subarray(0, length), at.good);
  return isWhole || recordBeforeChange(kernel, { bytes, filePosition: at.good, start: 0 }) !== undefined;
}

function hasBlankSector(bytes: Uint8Array, position: number): boolean {
  for (let at = 0; at < bytes.length; ) {
    const sectorEnd = at + SECTOR_LENGTH - ((position + at) % SECTOR_LENGTH);
    if (bytes.subarray(at, sectorEnd).every((byte) => byte === 0)) return true;
    at = sectorEnd;
  }
  return false;
}

/** The record's own copy of what it says. */
export function journalRecordOf({ header, session, commit, place, body }: OpRecord): JournalRecord {
  return { ...header, session, commit, bodyChecksum: place.checksum, body: body.slice() };
}

/** Follows the ops from the snapshot on: each names the one before it as its parent. */
class Chain {
  readonly records: JournalRecord[] = [];
  readonly #path: string;
  readonly #snapshot: JournalStart;
  #last: JournalStart | undefined;

  constructor(path: string, snapshot: MetadataSnapshot | undefined) {
    this.#path = path;
    this.#snapshot =
      snapshot === undefined
        ? { op: 0, checksum: 0n, view: 0 }
        : { op: snapshot.op, checksum: snapshot.opChecksum, view: snapshot.view };
  }

  /** Op of the last record that was taken, be it below the snapshot's. */
  get lastRead(): number {
    return this.#last?.op ?? 0;
  }

  get last(): JournalStart {
    const { op } = this.#snapshot;
    return this.#last !== undefined && this.#last.op > op ? this.#last : this.#snapshot;
  }

  take(startOp: number, path: string, position: number, record: OpRecord): void {
    const { header } = record;
    const isStart = position === 0;
    const expectedKind = isStart ? RecordKind.checkpoint : RecordKind.metadata;
    if (record.kind !== expectedKind || (isStart && header.op !== startOp)) {
      throw metadataDamaged("a record is not what must be there", { path, position });
    }
    const before = this.#last;
    const follows = isStart
      ? before === undefined || (before.op === header.op && before.checksum === header.checksum)
      : before?.op === header.op - 1 && before.checksum === header.parent;
    if (!follows)
      throw metadataDamaged(`op ${header.op} does not follow the one before it`, { path, position });
    this.#last = { op: header.op, checksum: header.checksum, view: header.view };
    this.#checkSnapshot(path, position);
    if (isStart || header.op <= this.#snapshot.op) return;
    this.records.push(journalRecordOf(record));
  }

  #checkSnapshot(path: string, position: number): void {
    if (this.#last?.op !== this.#snapshot.op || this.#snapshot.op === 0) return;
    if (this.#last.checksum === this.#snapshot.checksum) return;
    const what = `the snapshot in ${this.#path} is of another history than op ${this.#snapshot.op}`;
    throw metadataDamaged(what, { path, position });
  }
}
