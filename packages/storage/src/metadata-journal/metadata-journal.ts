import { assert, CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Superblock } from "../superblock/superblock.ts";
import type { JournalHeader, JournalStart } from "./journal-file.ts";
import { JournalFiles, type OpenJournalFiles } from "./journal-files.ts";
import { JournalWriter } from "./journal-writer.ts";
import type { JournalRecord, JournalSource } from "./recover-journal.ts";
import { type MetadataSnapshot, writeSnapshot } from "./snapshot-file.ts";

/** The journal as it is when it is opened. */
export interface OpenJournal extends OpenJournalFiles {
  readonly superblock: Superblock;
  readonly snapshot: MetadataSnapshot | undefined;
  /** Ops above the snapshot, in order. */
  readonly records: readonly JournalRecord[];
  /** Last op of all. */
  readonly last: JournalStart;
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
  readonly #files: JournalFiles;
  readonly #writer: JournalWriter;
  #records: readonly JournalRecord[];
  /** One checkpoint after the other. */
  #checkpoints: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(source: JournalSource, opened: OpenJournal) {
    const { superblock, snapshot, records, last } = opened;
    this.#source = source;
    this.superblock = superblock;
    this.snapshot = snapshot;
    this.#records = records;
    this.#files = new JournalFiles(source, opened);
    const aboveSnapshot = records.map(({ op, checksum, view }) => ({ op, checksum, view }));
    this.#writer = new JournalWriter(this.#files, source.kernel, { last, aboveSnapshot });
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
    return this.#writer.accepted.op;
  }

  get lastOpChecksum(): bigint {
    return this.#writer.accepted.checksum;
  }

  get lastView(): number {
    return this.#writer.accepted.view;
  }

  /** Journaled ops the newest snapshot does not hold: when it is many, it is time for a checkpoint. */
  get recordsSinceSnapshot(): number {
    return this.#writer.aboveSnapshot.length;
  }

  /** Why appends fail; after `DiskFull` the next append tries again. */
  get fault(): CodedError | undefined {
    return this.#files.fault;
  }

  /** Journals one op; the body is copied. `done` is called once, in op order, after the sync. */
  append(header: JournalHeader, body: Uint8Array, done: (error?: CodedError) => void): void {
    const refusal = this.#refusal();
    if (refusal !== undefined) queueMicrotask(() => done(refusal));
    else this.#writer.append(header, body, done);
  }

  /**
   * Writes a snapshot of the state as of `op` (journaled, not above the last) and drops the journal files it
   * covers. Appends go on meanwhile; one checkpoint waits for the other, and one that is not newer does
   * nothing.
   */
  checkpoint(op: number, snapshot: Uint8Array): Promise<void> {
    return this.#afterCheckpoints(() => this.#checkpoint(op, snapshot));
  }

  async #checkpoint(op: number, snapshot: Uint8Array): Promise<void> {
    if (op <= (this.snapshot?.op ?? 0)) return;
    const { aboveSnapshot, journaled } = this.#writer;
    const start = aboveSnapshot.find((one) => one.op === op);
    assert(start !== undefined && op <= journaled.op, "a checkpoint is of a journaled op above the snapshot");
    const written = { op, opChecksum: start.checksum, view: start.view, bytes: snapshot };
    await writeSnapshot(this.#source, written);
    await this.superblock.write({ checkpointOp: op });
    this.snapshot = written;
    this.#writer.snapshotTaken(op);
    await this.#rollBehindSnapshot(op);
  }

  /**
   * Puts another replica's snapshot in the place of everything: the journal is empty then and starts behind
   * it. A kill in between leaves the state before, or the new one. Nothing may be appended before it settles;
   * it is not of an older op than the last one here.
   * @throws CodedError `DiskFull`, and nothing has changed; anything else, and the journal is fenced
   */
  install(snapshot: MetadataSnapshot): Promise<void> {
    return this.#afterCheckpoints(() => this.#install(snapshot));
  }

  async #install(snapshot: MetadataSnapshot): Promise<void> {
    const { op, opChecksum: checksum, view } = snapshot;
    await this.#writer.idle();
    const { journaled } = this.#writer;
    assert(op >= journaled.op, "a snapshot of another replica reaches as far as the journal");
    // The last op never was: beside it the snapshot would be of another history.
    if (op === journaled.op && checksum !== journaled.checksum) await this.#cutTo(op - 1);
    try {
      await writeSnapshot(this.#source, snapshot);
    } catch (error) {
      // Nothing has changed when there was no space; otherwise nobody knows which snapshot is there.
      if (isCodedError(error) && error.code !== ErrorCode.DiskFull) this.#files.fence(error);
      throw error;
    }
    try {
      await this.superblock.write({ checkpointOp: op });
      this.snapshot = snapshot;
      this.#writer.endAt({ op, checksum, view });
      this.#writer.snapshotTaken(op);
      await this.#rollBehindSnapshot(op);
    } catch (error) {
      // The file that is open may end before the snapshot: nothing may follow in it.
      throw isCodedError(error) ? this.#files.fence(error) : error;
    }
  }

  /**
   * The journaled op with this number; nothing when the snapshot has taken its place, or it is not journaled.
   * @throws CodedError `MetadataDamaged`, or what the disk answers
   */
  async read(op: number): Promise<JournalRecord | undefined> {
    return op > this.#writer.journaled.op ? undefined : this.#files.read(op);
  }

  /**
   * Takes every op above `op` away, for good: a new primary has decided that they never were. Waits for what
   * is queued; nothing may be appended before it settles. Not below the snapshot.
   * @throws CodedError what the disk answers; the journal is fenced then
   */
  async cut(op: number): Promise<void> {
    await this.#writer.idle();
    assert(op >= (this.snapshot?.op ?? 0), "a snapshot holds committed ops, which are never cut");
    if (op < this.#writer.journaled.op) await this.#cutTo(op);
  }

  /** Writes what is queued and closes. Can be called again. */
  close(): Promise<void> {
    this.#closing ??= this.#checkpoints.then(() => this.#writer.idle()).then(() => this.#files.close());
    return this.#closing;
  }

  #refusal(): CodedError | undefined {
    const { fault, isReadOnly } = this.#files;
    if (this.#closing !== undefined) return new CodedError(ErrorCode.ShuttingDown, "The journal is closed.");
    if (isReadOnly) return new CodedError(ErrorCode.InvalidArgument, "The journal is read-only.");
    return isCodedError(fault, ErrorCode.DiskFull) ? undefined : fault;
  }

  #afterCheckpoints(action: () => Promise<void>): Promise<void> {
    const acted = this.#checkpoints.then(action);
    this.#checkpoints = acted.catch(() => undefined);
    return acted;
  }

  #cutTo(op: number): Promise<void> {
    return this.#writer.betweenGroups(async () => this.#writer.endAt(await this.#files.cut(op)));
  }

  /** What comes next goes to a new file, and those that a snapshot of `op` covers go. */
  async #rollBehindSnapshot(op: number): Promise<void> {
    await this.#writer.betweenGroups(() => this.#files.roll(this.#writer.journaled));
    await this.#files.removeCovered(op);
  }
}
