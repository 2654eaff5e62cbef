import { assert, CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { DiskFile } from "@millrace/platform";
import { makeDurableDirectory } from "../data-directory/durable-directory.ts";
import type { PartitionIdentity } from "../op-record/checkpoint.ts";
import { viewOver } from "../op-record/u64-field.ts";
import { asCodedError } from "../partition/fence.ts";
import { datasync, writeAt } from "../segment/file-calls.ts";
import { readViewFile, VIEW_FILE, type ViewLogSource } from "./read-view-file.ts";
import { FIRST_VIEW, type GroupView, VIEW_RECORD_LENGTH, writeViewRecord } from "./view-record.ts";

/** Records in one write: a view change of that many partitions at once costs one sync. */
const GROUP_RECORDS_MAX = 4096;
/** A file below this length is never written anew. */
const COMPACT_LENGTH_MIN = 1_048_576;
/** Records per group above which the file is written anew with one each. */
const COMPACT_FACTOR = 4;

interface Pending {
  readonly identity: PartitionIdentity;
  readonly changes: Partial<GroupView>;
  readonly done: (error?: CodedError) => void;
}

/** A group and what of it is on the disk. */
export interface LoggedView {
  readonly identity: PartitionIdentity;
  readonly group: GroupView;
}

/**
 * View and log view of every partition's group on this replica, in one file: what queues shares one write and
 * one datasync, so that a view change of a thousand partitions does not cost a thousand of them.
 *
 * The newest record of a group counts. A write that finds the disk full changes nothing and may be tried
 * again;
 * any other that fails fences the log until the next start: a replica that cannot keep its views must not
 * speak.
 */
export class ViewLog {
  readonly #source: ViewLogSource;
  readonly #groups: Map<string, LoggedView>;
  #file: DiskFile;
  #length: number;
  #queue: Pending[] = [];
  #isWriting = false;
  #fault: CodedError | undefined;
  #isClosed = false;
  #whenIdle: (() => void)[] = [];

  /** Use `openViewLog`. */
  constructor(
    source: ViewLogSource,
    state: { readonly file: DiskFile; readonly length: number; readonly groups: Map<string, LoggedView> },
  ) {
    this.#source = source;
    this.#file = state.file;
    this.#length = state.length;
    this.#groups = state.groups;
  }

  /** Why nothing is written any more: `FileFenced`. */
  get fault(): CodedError | undefined {
    return this.#fault;
  }

  /** True when anything of a group is on the disk. */
  has(identity: PartitionIdentity): boolean {
    return this.#groups.has(keyOf(identity));
  }

  /** Every group of which anything is on the disk. */
  identities(): PartitionIdentity[] {
    return Array.from(this.#groups.values(), ({ identity }) => identity);
  }

  /** What is on the disk of a group; view 0 when nothing is. */
  get(identity: PartitionIdentity): GroupView {
    return this.#groups.get(keyOf(identity))?.group ?? FIRST_VIEW;
  }

  /**
   * Changes some fields of a group's record. `done` is called once, in the order of the calls, when they
   * survive power loss; `get` answers them from then on. Errors: `DiskFull`, `FileFenced`, `ShuttingDown`.
   */
  write(identity: PartitionIdentity, changes: Partial<GroupView>, done: (error?: CodedError) => void): void {
    this.#queue.push({ identity, changes, done });
    if (this.#isWriting) return;
    this.#isWriting = true;
    queueMicrotask(() => void this.#drain());
  }

  /** Lets go of a partition that was deleted; its records go when the file is next written anew. */
  forget(identity: PartitionIdentity): void {
    this.#groups.delete(keyOf(identity));
  }

  /** Writes what is queued and closes the file. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#isWriting) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    this.#isClosed = true;
    await this.#file.close();
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, GROUP_RECORDS_MAX);
      const error = await this.#writeGroup(group);
      for (const { done } of group) done(error);
    }
    this.#isWriting = false;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  async #writeGroup(group: readonly Pending[]): Promise<CodedError | undefined> {
    if (this.#isClosed) return new CodedError(ErrorCode.ShuttingDown, "The views are closed.");
    if (this.#fault !== undefined) return this.#fault;
    const changed = new Map<string, LoggedView>();
    const records: LoggedView[] = [];
    for (const { identity, changes } of group) {
      const key = keyOf(identity);
      const before = changed.get(key)?.group ?? this.get(identity);
      const logged = { identity, group: { ...before, ...changes } };
      assert(logged.group.view >= before.view, "a view never goes back");
      changed.set(key, logged);
      records.push(logged);
    }
    try {
      await this.#append(encodeRecords(this.#source, records));
      for (const [key, logged] of changed) this.#groups.set(key, logged);
      await this.#compactWhenLong();
      return undefined;
    } catch (error) {
      if (!isCodedError(error)) throw error;
      if (isCodedError(error, ErrorCode.DiskFull)) return error;
      this.#fault = fenced(error);
      return this.#fault;
    }
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const file = this.#file;
    try {
      await writeAt(file, bytes, this.#length);
    } catch (error) {
      if (isCodedError(error, ErrorCode.DiskFull)) await file.truncate(this.#length);
      throw error;
    }
    try {
      await datasync(file);
    } catch (error) {
      // Whatever the reason: what the file holds is in doubt.
      throw fenced(asCodedError(error));
    }
    this.#length += bytes.length;
  }

  async #compactWhenLong(): Promise<void> {
    const needed = this.#groups.size * VIEW_RECORD_LENGTH;
    if (this.#length < COMPACT_LENGTH_MIN || this.#length < COMPACT_FACTOR * needed) return;
    const { disk, path } = this.#source;
    const bytes = encodeRecords(this.#source, [...this.#groups.values()]);
    try {
      await disk.writeWhole(`${path}/${VIEW_FILE}`, bytes);
    } catch (error) {
      // The long file is as good as the short one.
      if (isCodedError(error, ErrorCode.DiskFull)) return;
      throw error;
    }
    await this.#file.close().catch(() => undefined);
    this.#file = await disk.openFile(`${path}/${VIEW_FILE}`, "read-write");
    this.#length = bytes.length;
  }
}

/**
 * Opens the views below `path`, making the file when it is not there.
 *
 * What a crash cut short at the end was never promised to anybody; it is cut.
 * @throws CodedError `MetadataDamaged` for a record that was whole once, with file and position;
 *         `FormatTooNew`; what the disk answers
 */
export async function openViewLog(source: ViewLogSource): Promise<ViewLog> {
  const { disk, path } = source;
  const filePath = `${path}/${VIEW_FILE}`;
  await makeDurableDirectory(disk, path);
  const { records, length } = await readViewFile(source);
  const groups = new Map<string, LoggedView>();
  for (const logged of records) groups.set(keyOf(logged.identity), logged);
  // Written again whole, like the metadata journal: what reads well may not be on the disk (ADR 0034).
  const bytes = encodeRecords(source, [...groups.values()]);
  await disk.writeWhole(filePath, bytes);
  if (length > 0) source.log.info("Views are recovered.", { groups: groups.size });
  const file = await disk.openFile(filePath, "read-write");
  return new ViewLog(source, { file, length: bytes.length, groups });
}

function encodeRecords({ kernel }: ViewLogSource, records: readonly LoggedView[]): Uint8Array {
  const bytes = new Uint8Array(records.length * VIEW_RECORD_LENGTH);
  const view = viewOver(bytes);
  for (const [index, { identity, group }] of records.entries()) {
    writeViewRecord(kernel, { bytes, view, position: index * VIEW_RECORD_LENGTH }, identity, group);
  }
  return bytes;
}

function keyOf({ streamId, topicId, partitionId, revision }: PartitionIdentity): string {
  return `${streamId}/${topicId}/${partitionId}-${revision}`;
}

function fenced(cause: CodedError): CodedError {
  const text = "The views of this replica could not be written; start again to go on.";
  return new CodedError(ErrorCode.FileFenced, text, { details: cause.details, cause });
}
