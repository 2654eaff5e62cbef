import { assert, type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { ChecksumKernel } from "@millrace/framing";
import type { Disk } from "@millrace/platform";
import { writeIndex } from "../index-file/write-index.ts";
import { encodeCheckpoint } from "../op-record/checkpoint.ts";
import { encodeCommitMark } from "../op-record/commit-mark.ts";
import { datasync, writeAt } from "../segment/file-calls.ts";
import type { Segment } from "../segment/segment.ts";
import type { SegmentFiles } from "../segment/segment-files.ts";
import { ActiveFiles } from "./active-files.ts";
import { CommitMarks } from "./commit-marks.ts";
import { asCodedError, fenced, mayPass } from "./fence.ts";
import { Group, LARGE_LENGTH } from "./group.ts";
import { createNextSegment } from "./next-segment.ts";
import type { OpEntry } from "./op-entry.ts";
import { moveTo, type PartitionState } from "./partition-state.ts";
import { SuccessorNotes } from "./successor-notes.ts";

/** Free space that must be there before writing goes on after a full disk: two whole groups. */
const RESUME_FREE_LENGTH = 8_388_608;

/** When a reply may leave: after the write, or after a datasync of both files. */
export type Durability = "replicated" | "persisted";

/** What the writer is told and whom it tells. */
export interface GroupWriterOptions {
  readonly disk: Disk;
  readonly kernel: ChecksumKernel;
  readonly state: PartitionState;
  readonly files: SegmentFiles;
  /** The `.ops` ends with a closing checkpoint behind its good length; it is cut before the first write. */
  readonly hasClosingRecord: boolean;
  readonly segmentLengthMax: number;
  /** Bytes of space asked for when a segment is made. */
  readonly reservedLength: number;
  readonly durability: Durability;
  readonly offsetDurability: Durability;
  /**
   * Other replicas count on what the journal says it holds: a segment is synced before the next one begins,
   * for a start takes the word of that one's first record for all that lies before.
   */
  readonly isReplica: boolean;
  /** Called when ops became journaled, before their `done`. */
  readonly onJournaled: () => void;
  /** Called with the segment that was active when the next one took its place. */
  readonly onLeft: (segment: Segment) => void;
  /** Called when the partition stopped taking writes, before any `done` hears of it. */
  readonly onFault: () => void;
}

/**
 * Puts accepted ops on disk, one group at a time: one write to `.log` and one to `.ops` side by side, then
 * the datasyncs a persisted op asks for. What queues meanwhile is the next group. Rolls to a new segment in
 * between.
 *
 * A failed write or datasync sets `state.fault`; nothing is written after it. What may pass, a full disk
 * or no file handle, may be lifted by `resume`.
 */
export class GroupWriter {
  readonly #options: GroupWriterOptions;
  readonly #state: PartitionState;
  readonly #group: Group;
  readonly #files: ActiveFiles;
  #queue: OpEntry[] = [];
  #busy = false;
  #cutFirst: boolean;
  #callsOut = 0;
  #failure: CodedError | undefined;
  #whenIdle: (() => void)[] = [];
  readonly #marks: CommitMarks;
  /** What the records of the group under way say is committed. */
  #groupCommit = 0;
  #restored: Promise<boolean> = Promise.resolve(true);
  readonly #notes: SuccessorNotes;
  /** The latest `resume`: one at a time. */
  #resumed: Promise<boolean> = Promise.resolve(true);

  constructor(options: GroupWriterOptions) {
    this.#options = options;
    this.#state = options.state;
    this.#files = new ActiveFiles(options.disk, options.state, options.files);
    this.#cutFirst = options.hasClosingRecord;
    this.#group = new Group(options.kernel);
    this.#notes = new SuccessorNotes({ ...options, isPersisted: this.#isPersisted });
    // What the closing record says goes with it.
    this.#marks = new CommitMarks(options.hasClosingRecord ? 0 : options.state.committedOp);
  }

  /** The files of the active segment. */
  get files(): ActiveFiles {
    return this.#files;
  }

  /** Queues an op; its `done` is called once it is on disk or never will be. */
  submit(entry: OpEntry): void {
    this.#queue.push(entry);
    this.#begin((entry.batch?.length ?? 0) >= LARGE_LENGTH);
  }

  /**
   * Writes a record that says how far the journal is committed, unless one says so already. Settles when it
   * is written; `sync` of the files makes it survive power loss.
   * @throws CodedError what keeps it from being written
   */
  async markCommit(): Promise<void> {
    if (this.#marks.says(this.#state.committedOp)) return;
    const marked = this.#marks.ask();
    this.#begin();
    await marked;
  }

  /** `isLarge`: worth waiting for what comes in with it, where the disk says so. */
  #begin(isLarge = false): void {
    if (this.#busy) return;
    this.#busy = true;
    const { gather } = this.#options.disk;
    if (isLarge && gather !== undefined) gather(() => this.#next());
    else queueMicrotask(() => this.#next());
  }

  /** Answers when nothing is queued or on its way. */
  async idle(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    await this.#restored;
  }

  /**
   * Lifts a fault that may pass when the files were cut back to the last good record and a full disk has
   * space again, and begins the segment that a purge on a full disk still owes.
   *
   * @param forRemoval  what comes next frees space: its record is short and is tried whatever is free
   */
  resume(forRemoval: boolean): Promise<boolean> {
    this.#resumed = this.#resumed.catch(() => false).then(() => this.#resume(forRemoval));
    return this.#resumed;
  }

  async #resume(forRemoval: boolean): Promise<boolean> {
    const state = this.#state;
    const { fault } = state;
    if (fault === undefined) return true;
    if (!mayPass(fault) || !(await this.#restored)) return false;
    const needsRoom = isCodedError(fault, ErrorCode.DiskFull) && !forRemoval;
    const hasRoom = !needsRoom || (await this.#options.disk.space()).freeLength >= RESUME_FREE_LENGTH;
    if (!hasRoom || this.#busy || state.fault !== fault) return state.fault === undefined;
    state.fault = undefined;
    return state.active?.generation === state.journaled.generation || this.#rollLate();
  }

  /** The roll that a purge found no room for. */
  async #rollLate(): Promise<boolean> {
    this.#busy = true;
    try {
      await this.rollToJournaled();
    } catch (error) {
      this.#fail(asCodedError(error));
      return false;
    }
    this.#next();
    return true;
  }

  /**
   * Begins the segment that follows `journaled`, when the last journaled op or a hole in the offsets asks for
   * it.
   */
  async rollToJournaled(): Promise<void> {
    await this.#cutClosingRecord();
    await this.#roll(this.#state.journaled.nextOffset);
  }

  /** Makes up for notes of segments that were begun, see `SuccessorNotes`. */
  makeUpNotes(): Promise<void> {
    return this.#notes.makeUp(() => this.#files.settle());
  }

  /** Settles when every note of a segment that has begun is written, or could not be. */
  notesWritten(): Promise<void> {
    return this.#notes.idle();
  }

  /** Writes the closing checkpoint and the index, unless writing failed before, and closes the files. */
  async close(): Promise<void> {
    await this.idle();
    await this.#notes.idle();
    const { active, fault } = this.#state;
    try {
      if (active !== undefined && fault === undefined && !this.#cutFirst) await this.#writeClosing(active);
    } finally {
      await this.#files.close();
    }
  }

  async #writeClosing(active: Segment): Promise<void> {
    await writeIndex(this.#options.disk, this.#state, active);
    const record = encodeCheckpoint(this.#options.kernel, this.#state.checkpoint(active, true));
    try {
      await writeAt(this.#files.ops, record, active.opsLength);
      this.#files.noteWritten();
      if (this.#isPersisted) await this.#files.sync();
    } catch (error) {
      const { path, log } = this.#state;
      log.warn("The mark of a clean close could not be written; the next start verifies more.", {
        path,
        error,
      });
      await this.#files.ops.truncate(active.opsLength);
    }
  }

  get #isPersisted(): boolean {
    return this.#options.durability === "persisted" || this.#options.offsetDurability === "persisted";
  }

  /** A segment is synced before the next one begins, and so is that one's first record before a second. */
  get #isSealedForGood(): boolean {
    return this.#isPersisted || this.#options.isReplica;
  }

  #next(): void {
    const { active } = this.#state;
    if (this.#marks.isAsked) {
      void this.#writeMark();
      return;
    }
    const first = this.#queue[0];
    if (first !== undefined && this.#state.fault !== undefined) {
      this.#fail(this.#state.fault);
      return;
    }
    if (first === undefined || active === undefined) {
      this.#rest();
      return;
    }
    if (this.#cutFirst || this.#mustRoll(active, first)) void this.#prepareThenWrite(first);
    else this.#writeGroup(active);
  }

  async #writeMark(): Promise<void> {
    try {
      await this.#putMark();
      this.#marks.settle();
    } catch (error) {
      this.#marks.settle(error);
      if (!mayPass(error) && error !== this.#state.fault) {
        this.#fail(asCodedError(error));
        return;
      }
    }
    this.#next();
  }

  /** A full disk may still have room for it; else it is as if it had not been tried. */
  async #putMark(): Promise<void> {
    await this.#restored;
    const { active, fault, journaled, committedOp } = this.#state;
    if (isCodedError(fault, ErrorCode.FileFenced)) throw fault;
    assert(active !== undefined, "a journal that is written has an active segment");
    await this.#cutClosingRecord();
    const record = encodeCommitMark(this.#options.kernel, journaled, committedOp);
    try {
      await writeAt(this.#files.ops, record, active.opsLength);
    } catch (error) {
      if (mayPass(error)) await this.#files.ops.truncate(active.opsLength);
      throw error;
    }
    active.opsLength += record.length;
    this.#files.noteWritten();
    this.#marks.note(committedOp);
  }

  #rest(): void {
    this.#busy = false;
    const waiting = this.#whenIdle;
    this.#whenIdle = [];
    for (const resolve of waiting) resolve();
  }

  #mustRoll(active: Segment, first: OpEntry): boolean {
    if (active.generation !== this.#state.journaled.generation) return true;
    if (first.batch !== undefined && first.batch.baseOffset !== active.endOffset) return true;
    // What frees space must not need any for a segment.
    if (isRemoval(first)) return false;
    return active.logLength >= this.#options.segmentLengthMax;
  }

  async #prepareThenWrite(first: OpEntry): Promise<void> {
    try {
      await this.#cutClosingRecord();
      const { active } = this.#state;
      if (active !== undefined && this.#mustRoll(active, first)) {
        await this.#roll(first.batch?.baseOffset ?? this.#state.journaled.nextOffset);
      }
    } catch (error) {
      return this.#fail(asCodedError(error));
    }
    if (this.#state.active !== undefined) this.#writeGroup(this.#state.active);
  }

  /** Synced at once: after power loss no old bytes lie among new ones, where they would pass for damage. */
  async #cutClosingRecord(): Promise<void> {
    if (!this.#cutFirst) return;
    await this.#files.ops.truncate(this.#state.active?.opsLength ?? 0);
    await datasync(this.#files.ops);
    this.#cutFirst = false;
  }

  #writeGroup(active: Segment): void {
    this.#fillGroup(active);
    const group = this.#group;
    this.#callsOut = group.logLength > 0 ? 2 : 1;
    if (group.logLength > 0) this.#files.log.write(group.logParts(), active.logLength, this.#onWritten);
    this.#files.ops.write([group.records], active.opsLength, this.#onWritten);
  }

  #fillGroup(active: Segment): void {
    const group = this.#group;
    group.clear();
    this.#groupCommit = this.#state.committedOp;
    let taken = 0;
    for (const entry of this.#queue) {
      const full = active.logLength + group.logLength >= this.#options.segmentLengthMax;
      if ((full && taken > 0) || !group.admits(entry)) break;
      group.add(entry, active.logLength, this.#groupCommit);
      taken += 1;
    }
    group.gather();
    this.#queue = this.#queue.slice(taken);
  }

  readonly #onWritten = (error?: CodedError): void => {
    if (error !== undefined) this.#failure = worse(this.#failure, error);
    this.#callsOut -= 1;
    if (this.#callsOut > 0) return;
    this.#files.noteWritten();
    if (this.#failure !== undefined) {
      this.#fail(this.#failure);
      return;
    }
    if (!this.#group.entries.some((entry) => this.#needsSync(entry))) {
      this.#groupDurable();
      return;
    }
    this.#files.syncGroup(this.#onSynced);
  };

  readonly #onSynced = (error?: CodedError): void => {
    if (error !== undefined) this.#fail(fenced(error));
    else this.#groupDurable();
  };

  #needsSync(entry: OpEntry): boolean {
    const { durability, offsetDurability } = this.#options;
    if (entry.batch !== undefined) return durability === "persisted";
    const kind = entry.small?.operation.kind;
    if (kind === "store-offset" || kind === "delete-offset") return offsetDurability === "persisted";
    return this.#isPersisted;
  }

  #groupDurable(): void {
    const last = this.#group.entries[this.#group.entries.length - 1];
    this.#advance();
    if (this.#options.isReplica && this.#options.durability !== "persisted") this.#syncAhead();
    if (last?.small?.operation.kind !== "purge") {
      this.#finishGroup();
      return;
    }
    this.#roll(0).then(
      () => this.#finishGroup(),
      (error: unknown) => this.#stopUnrolled(asCodedError(error)),
    );
  }

  /**
   * A purge is journaled and its segment could not begin. On a full disk it counts all the same: what it
   * takes away makes room for that segment.
   */
  #stopUnrolled(error: CodedError): void {
    const state = this.#state;
    if (!mayPass(error)) {
      this.#fail(error);
      return;
    }
    state.fault ??= error;
    state.log.error("A purged partition takes no writes until there is space.", { path: state.path, error });
    this.#finishGroup();
  }

  #syncAhead(): void {
    const { logLength = 0 } = this.#state.active ?? {};
    this.#files.syncAhead(1 - logLength / this.#options.segmentLengthMax);
  }

  /** Moves the journaled state and the active segment past the group. */
  #advance(): void {
    const { active, journaled } = this.#state;
    const group = this.#group;
    if (active === undefined) return;
    let position = active.logLength;
    for (const { batch } of group.entries) {
      if (batch === undefined) continue;
      active.index?.note(batch.baseOffset, batch.timestamp, position);
      active.endOffset = batch.baseOffset + batch.count;
      active.lastTimestamp = batch.timestamp;
      position += batch.length;
    }
    active.logLength = position;
    active.opsLength += group.opsLength;
    this.#marks.note(this.#groupCommit);
    const last = group.entries[group.entries.length - 1];
    if (last !== undefined) moveTo(journaled, last);
  }

  #finishGroup(): void {
    const entries = this.#group.entries.splice(0);
    for (const entry of entries) releaseBatch(entry);
    this.#options.onJournaled();
    let more = entries.length;
    for (const entry of entries) {
      more -= 1;
      entry.done(undefined, entry.header, more);
    }
    this.#next();
  }

  /** Seals the active segment and begins the next one with a checkpoint of everything journaled. */
  async #roll(firstOffset: number): Promise<void> {
    const state = this.#state;
    const sealed = state.active;
    if (this.#isSealedForGood) await this.#files.sync();
    const { next, files, commit } = await createNextSegment(this.#options, firstOffset);
    this.#marks.note(commit);
    await this.#files.replace(files);
    state.segments.push(next);
    const settled = this.#files.settle();
    if (this.#isSealedForGood) await this.#files.syncsUnderWay();
    if (sealed === undefined) return;
    await this.#notes.begun({ sealed, next }, settled);
    await writeIndex(this.#options.disk, state, sealed);
    this.#options.onLeft(sealed);
  }

  /**
   * Stops writing; everyone on the way hears the same error. What may pass is a refusal, so it is told when
   * nothing of the group is left.
   */
  #fail(error: CodedError): void {
    const state = this.#state;
    // What a failed sync left in doubt stays so, whatever fails after it.
    const reason = isCodedError(state.fault, ErrorCode.FileFenced) ? state.fault : error;
    const passes = mayPass(reason);
    state.fault = passes ? reason : fenced(reason);
    state.log.error("The partition takes no more writes.", { path: state.path, error: state.fault });
    this.#failure = undefined;
    const entries = [...this.#group.entries.splice(0), ...this.#queue.splice(0)];
    for (const entry of entries) releaseBatch(entry);
    this.#restored = passes ? this.#cutBack() : Promise.resolve(false);
    this.#options.onFault();
    void this.#restored.then(() => {
      for (const entry of entries) entry.done(state.fault ?? error, entry.header, 0);
      this.#next();
    });
  }

  /** Cuts both files back to the last good record, as safely as the topic asks for; needs no space. */
  async #cutBack(): Promise<boolean> {
    const { active } = this.#state;
    if (active === undefined) return false;
    try {
      await this.#files.log.truncate(active.logLength);
      await this.#files.ops.truncate(active.opsLength);
      this.#files.noteWritten();
      if (this.#isPersisted) await this.#files.sync();
      this.#cutFirst = false;
      return true;
    } catch (error) {
      this.#state.fault = fenced(asCodedError(error));
      return false;
    }
  }
}

/** Of two failures the one that leaves less hope. */
function worse(before: CodedError | undefined, error: CodedError): CodedError {
  return before === undefined || mayPass(before) ? error : before;
}

function isRemoval({ small }: OpEntry): boolean {
  return small?.operation.kind === "truncate" || small?.operation.kind === "purge";
}

function releaseBatch(entry: OpEntry): void {
  entry.batch?.lease.release();
  entry.batch = undefined;
}
