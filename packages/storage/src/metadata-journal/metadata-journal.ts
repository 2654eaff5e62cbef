import { assert, CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { DiskFile } from "@millrace/platform";
import { makeDurableDirectory } from "../data-directory/durable-directory.ts";
import { RECORD_HEADER_LENGTH } from "../op-record/record.ts";
import { writeAgain } from "../recovery/write-again.ts";
import { datasync } from "../segment/file-calls.ts";
import { openSuperblock, type Superblock } from "../superblock/superblock.ts";
import { cutJournal, readJournalOp } from "./cut-journal.ts";
import {
  createJournalFile,
  encodeJournalRecord,
  type JournalHeader,
  type JournalStart,
  journalFileName,
  setGroupPlace,
} from "./journal-file.ts";
import { metadataDamaged } from "./metadata-damage.ts";
import {
  type JournalRecord,
  type JournalSource,
  listJournals,
  type RecoveredJournal,
  recoverJournal,
} from "./recover-journal.ts";
import { type MetadataSnapshot, readSnapshot, snapshotPath, writeSnapshot } from "./snapshot-file.ts";

/** Records in one write; a metadata op is rare, so this only bounds memory. */
const GROUP_RECORDS_MAX = 256;

/** An op that waits to be journaled. */
interface Pending {
  readonly start: JournalStart;
  readonly bytes: Uint8Array;
  readonly done: (error?: CodedError) => void;
}

/**
 * The journal of the metadata group: every op is on disk and synced before its `done`, what queues meanwhile
 * shares the next write and sync.
 *
 * A checkpoint writes a snapshot, then starts a new journal file and removes those the snapshot covers.
 */
export class MetadataJournal {
  /**
   * The newest snapshot, as found at the start or written since; its bytes are the caller's to read, not to
   * write.
   */
  snapshot: MetadataSnapshot | undefined;
  /** View, log view and identity of this replica, in the same directory. */
  readonly superblock: Superblock;
  readonly #source: JournalSource;
  #records: readonly JournalRecord[];
  #file: DiskFile | undefined;
  #length: number;
  #startOps: number[];
  /** Ops above the snapshot, for their checksums. */
  #sinceSnapshot: JournalStart[];
  #accepted: JournalStart;
  #journaled: JournalStart;
  #queue: Pending[] = [];
  #busy = false;
  #rolling: (() => void) | undefined;
  #whenIdle: (() => void)[] = [];
  /** One checkpoint after the other. */
  #checkpoints: Promise<void> = Promise.resolve();
  #fault: CodedError | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    source: JournalSource,
    state: {
      readonly superblock: Superblock;
      readonly snapshot: MetadataSnapshot | undefined;
      readonly records: readonly JournalRecord[];
      readonly last: JournalStart;
      readonly startOps: number[];
      readonly length: number;
      readonly file: DiskFile | undefined;
    },
  ) {
    this.#source = source;
    this.superblock = state.superblock;
    this.snapshot = state.snapshot;
    this.#records = state.records;
    this.#sinceSnapshot = state.records.map(({ op, checksum, view }) => ({ op, checksum, view }));
    this.#accepted = state.last;
    this.#journaled = state.last;
    this.#startOps = state.startOps;
    this.#length = state.length;
    this.#file = state.file;
  }

  /** Ops above the snapshot, in order, as found at the start; call `releaseRecords` once they are applied. */
  get records(): readonly JournalRecord[] {
    return this.#records;
  }

  releaseRecords(): void {
    this.#records = [];
  }

  /** Last accepted op; 0 before the first. */
  get lastOp(): number {
    return this.#accepted.op;
  }

  get lastOpChecksum(): bigint {
    return this.#accepted.checksum;
  }

  get lastView(): number {
    return this.#accepted.view;
  }

  /** Journaled ops the newest snapshot does not hold: when it is many, it is time for a checkpoint. */
  get recordsSinceSnapshot(): number {
    return this.#sinceSnapshot.length;
  }

  /** Why appends fail; after `DiskFull` the next append tries again. */
  get fault(): CodedError | undefined {
    return this.#fault;
  }

  /** Journals one op; the body is copied. `done` is called once, in op order, after the sync. */
  append(header: JournalHeader, body: Uint8Array, done: (error?: CodedError) => void): void {
    const refusal = this.#refusal();
    if (refusal !== undefined) {
      queueMicrotask(() => done(refusal));
      return;
    }
    assert(header.op === this.#accepted.op + 1, "metadata ops are appended in order");
    assert(header.parent === this.#accepted.checksum, "an op names the one before it as its parent");
    const start = { op: header.op, checksum: header.checksum, view: header.view };
    this.#accepted = start;
    this.#queue.push({ start, bytes: encodeJournalRecord(this.#source.kernel, header, body), done });
    this.#wake();
  }

  /**
   * Writes a snapshot of the state as of `op` (journaled, not above the last) and drops the journal files it
   * covers. Appends go on meanwhile; one checkpoint waits for the other, and one that is not newer does
   * nothing.
   */
  checkpoint(op: number, snapshot: Uint8Array): Promise<void> {
    const written = this.#checkpoints.then(() => this.#checkpoint(op, snapshot));
    this.#checkpoints = written.catch(() => undefined);
    return written;
  }

  async #checkpoint(op: number, snapshot: Uint8Array): Promise<void> {
    if (op <= (this.snapshot?.op ?? 0)) return;
    const start = this.#sinceSnapshot.find((one) => one.op === op);
    assert(
      start !== undefined && op <= this.#journaled.op,
      "a checkpoint is of a journaled op above the snapshot",
    );
    const written = { op, opChecksum: start.checksum, view: start.view, bytes: snapshot };
    await writeSnapshot(this.#source, written);
    await this.superblock.write({ checkpointOp: op });
    this.snapshot = written;
    this.#sinceSnapshot = this.#sinceSnapshot.filter((one) => one.op > op);
    await this.#betweenGroups(() => this.#roll());
    await this.#removeCovered(op);
  }

  /**
   * Puts another replica's snapshot in the place of everything: the journal is empty then and starts behind
   * it. A kill in between leaves the state before, or the new one. Nothing may be appended before it settles;
   * it is not of an older op than the last one here.
   * @throws CodedError `DiskFull`, and nothing has changed; anything else, and the journal is fenced
   */
  install(snapshot: MetadataSnapshot): Promise<void> {
    const installed = this.#checkpoints.then(() => this.#install(snapshot));
    this.#checkpoints = installed.catch(() => undefined);
    return installed;
  }

  async #install(snapshot: MetadataSnapshot): Promise<void> {
    const { op, opChecksum: checksum, view } = snapshot;
    await this.#idle();
    assert(op >= this.#journaled.op, "a snapshot of another replica reaches as far as the journal");
    // The last op never was: beside it the snapshot would be of another history.
    const isOther = op === this.#journaled.op && checksum !== this.#journaled.checksum;
    if (isOther) await this.#betweenGroups(() => this.#cut(op - 1));
    try {
      await writeSnapshot(this.#source, snapshot);
    } catch (error) {
      // Nothing has changed when there was no space; otherwise nobody knows which snapshot is there.
      if (isCodedError(error) && error.code !== ErrorCode.DiskFull) this.#fault = fenced(error);
      throw error;
    }
    try {
      await this.superblock.write({ checkpointOp: op });
      this.snapshot = snapshot;
      this.#sinceSnapshot = [];
      this.#journaled = { op, checksum, view };
      this.#accepted = this.#journaled;
      await this.#betweenGroups(() => this.#roll());
      await this.#removeCovered(op);
    } catch (error) {
      // The file that is open may end before the snapshot: nothing may follow in it.
      if (!isCodedError(error)) throw error;
      this.#fault = fenced(error);
      throw this.#fault;
    }
  }

  /**
   * The journaled op with this number; nothing when the snapshot has taken its place, or it is not journaled.
   * @throws CodedError `MetadataDamaged`, or what the disk answers
   */
  read(op: number): Promise<JournalRecord | undefined> {
    if (op > this.#journaled.op) return Promise.resolve(undefined);
    return readJournalOp(this.#source, this.#startOps, op);
  }

  /**
   * Takes every op above `op` away, for good: a new primary has decided that they never were. Waits for what
   * is queued; nothing may be appended before it settles. Not below the snapshot.
   * @throws CodedError what the disk answers; the journal is fenced then
   */
  async cut(op: number): Promise<void> {
    await this.#idle();
    assert(op >= (this.snapshot?.op ?? 0), "a snapshot holds committed ops, which are never cut");
    if (op >= this.#journaled.op) return;
    await this.#betweenGroups(() => this.#cut(op));
  }

  async #cut(op: number): Promise<void> {
    try {
      await this.#file?.close();
      const { file, length, last } = await cutJournal(this.#source, this.#startOps, op);
      this.#file = file;
      this.#length = length;
      this.#journaled = last;
      this.#accepted = last;
      this.#sinceSnapshot = this.#sinceSnapshot.filter((one) => one.op <= op);
    } catch (error) {
      if (isCodedError(error)) this.#fault = fenced(error);
      throw error;
    }
  }

  /** Writes what is queued and closes. Can be called again. */
  close(): Promise<void> {
    this.#closing ??= this.#checkpoints.then(() => this.#idle()).then(() => this.#file?.close());
    return this.#closing;
  }

  #refusal(): CodedError | undefined {
    if (this.#closing !== undefined) return new CodedError(ErrorCode.ShuttingDown, "The journal is closed.");
    if (this.#file === undefined)
      return new CodedError(ErrorCode.InvalidArgument, "The journal is read-only.");
    if (this.#fault === undefined || isCodedError(this.#fault, ErrorCode.DiskFull)) return undefined;
    return this.#fault;
  }

  #wake(): void {
    if (this.#busy) return;
    this.#busy = true;
    queueMicrotask(() => this.#next());
  }

  #next(): void {
    if (this.#rolling !== undefined) {
      this.#rolling();
      return;
    }
    if (this.#isFenced) this.#refuseQueued([]);
    const group = this.#queue.splice(0, GROUP_RECORDS_MAX);
    if (group.length > 0 && this.#file !== undefined) {
      this.#write(this.#file, group);
      return;
    }
    this.#busy = false;
    const waiting = this.#whenIdle;
    this.#whenIdle = [];
    for (const resolve of waiting) resolve();
  }

  #write(file: DiskFile, group: readonly Pending[]): void {
    const parts = group.map(({ bytes }) => bytes);
    for (const [place, bytes] of parts.entries()) {
      if (place > 0) setGroupPlace(this.#source.kernel, bytes, place);
    }
    file.write(parts, this.#length, (error) => {
      if (error !== undefined) return void this.#fail(file, error, group);
      file.datasync((syncError) => {
        if (syncError !== undefined) return void this.#fail(file, fenced(syncError), group);
        this.#finish(group);
      });
    });
  }

  #finish(group: readonly Pending[]): void {
    this.#fault = undefined;
    for (const { start, bytes } of group) {
      this.#length += bytes.length;
      this.#journaled = start;
      this.#sinceSnapshot.push(start);
    }
    for (const { done } of group) done();
    this.#next();
  }

  /** Nothing of the group counts: the file is cut back, or fenced when that fails too. */
  async #fail(file: DiskFile, error: CodedError, group: readonly Pending[]): Promise<void> {
    this.#fault = isCodedError(error, ErrorCode.DiskFull) ? error : fenced(error);
    this.#source.log.error("A metadata operation could not be journaled.", { path: file.path, error });
    try {
      await file.truncate(this.#length);
      // Else power loss may bring back bytes of the group, in a file that others follow by then.
      await datasync(file);
    } catch (cause) {
      this.#fault = fenced(isCodedError(cause) ? cause : error);
    }
    this.#refuseQueued(group);
    this.#next();
  }

  /** Ops that were not written, and those behind them, hear why. */
  #refuseQueued(group: readonly Pending[]): void {
    const failed = [...group, ...this.#queue.splice(0)];
    this.#accepted = this.#journaled;
    for (const { done } of failed) done(this.#fault);
  }

  get #isFenced(): boolean {
    return isCodedError(this.#fault, ErrorCode.FileFenced);
  }

  /** Runs `action` while no group is on its way. */
  #betweenGroups(action: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#rolling = () => {
        this.#rolling = undefined;
        action()
          .then(resolve, reject)
          .finally(() => this.#next());
      };
      this.#wake();
    });
  }

  /** Starts a new journal file, unless the one there is holds no op yet. */
  async #roll(): Promise<void> {
    const { disk, path } = this.#source;
    if (this.#startOps[this.#startOps.length - 1] === this.#journaled.op) return;
    // What a fenced file holds is in doubt, so no other may follow it.
    if (this.#isFenced) return;
    const next = `${path}/${journalFileName(this.#journaled.op)}`;
    let file: DiskFile;
    try {
      await createJournalFile(this.#source, this.#journaled);
      file = await disk.openFile(next, "read-write");
    } catch (error) {
      await this.#fenceWhenThere(next, error);
      throw error;
    }
    await this.#file?.close().catch(() => undefined);
    this.#file = file;
    this.#length = RECORD_HEADER_LENGTH;
    this.#startOps.push(this.#journaled.op);
  }

  /** Where a new file was begun, no op may go to the one before it any more. */
  async #fenceWhenThere(next: string, error: unknown): Promise<void> {
    const found = await this.#source.disk.stat(next).catch(() => "unknown");
    if (found !== undefined && isCodedError(error)) this.#fault = fenced(error);
  }

  /** A file is covered when the one after it starts at or below the snapshot. */
  async #removeCovered(op: number): Promise<void> {
    const { disk, path } = this.#source;
    while ((this.#startOps[1] ?? Number.POSITIVE_INFINITY) <= op) {
      await disk.removeFile(`${path}/${journalFileName(this.#startOps[0] ?? 0)}`);
      this.#startOps.shift();
    }
    await disk.syncDirectory(path);
  }

  async #idle(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }
}

/**
 * Opens the metadata directory, making it when it holds nothing, and recovers snapshot and journal.
 *
 * Only a torn end of the newest journal is cut, and kept in quarantine.
 * @throws CodedError `MetadataDamaged` naming file and position for anything else that is not whole: a
 * damaged or
 *         missing snapshot, a superblock newer than it, a hole in the chain of ops; `FormatTooNew`;
 *         `FeatureUnavailable` for the role `shared`
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

function fenced(cause: CodedError): CodedError {
  if (cause.code === ErrorCode.FileFenced) return cause;
  const text = "A write or sync of the metadata journal failed; start again to go on.";
  return new CodedError(ErrorCode.FileFenced, text, { details: cause.details, cause });
}
