import { assert, CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { DiskFile } from "@millrace/platform";
import { RECORD_HEADER_LENGTH } from "../op-record/record.ts";
import { datasync } from "../segment/file-calls.ts";
import { cutJournal, readJournalOp } from "./cut-journal.ts";
import { createJournalFile, type JournalStart, journalFileName } from "./journal-file.ts";
import type { JournalRecord, JournalSource } from "./recover-journal.ts";

/** The files as they are when the journal is opened. */
export interface OpenJournalFiles {
  /** Start ops of all, oldest first. */
  readonly startOps: number[];
  /** Good bytes in the newest. */
  readonly length: number;
  /** The newest, open for writing; nothing for a journal that is only read. */
  readonly file: DiskFile | undefined;
}

/**
 * The journal's files, one behind the other; ops are appended to the newest. After a failure nobody may
 * append: `fault` says why, and all but a full disk stays.
 */
export class JournalFiles {
  readonly #source: JournalSource;
  readonly #startOps: number[];
  #file: DiskFile | undefined;
  #length: number;
  #fault: CodedError | undefined;

  constructor(source: JournalSource, { startOps, length, file }: OpenJournalFiles) {
    this.#source = source;
    this.#startOps = startOps;
    this.#length = length;
    this.#file = file;
  }

  get isReadOnly(): boolean {
    return this.#file === undefined;
  }

  /** Why appends fail; after `DiskFull` the next one may pass. */
  get fault(): CodedError | undefined {
    return this.#fault;
  }

  get isFenced(): boolean {
    return isCodedError(this.#fault, ErrorCode.FileFenced);
  }

  /** Nothing may be appended from now on. Answers the fault. */
  fence(cause: CodedError): CodedError {
    this.#fault = fenced(cause);
    return this.#fault;
  }

  /**
   * Writes the bytes of some ops, lent until `done`, and syncs them. With an error none of them counts: the
   * file is cut back, or fenced when that fails too. One call at a time.
   */
  append(parts: readonly Uint8Array[], done: (error?: CodedError) => void): void {
    const file = this.#file;
    assert(file !== undefined, "a journal that is only read takes no ops");
    const fail = (error: CodedError) => void this.#takeBack(file, error).then(() => done(this.#fault));
    file.write(parts, this.#length, (error) => {
      if (error !== undefined) return fail(error);
      file.datasync((syncError) => {
        if (syncError !== undefined) return fail(fenced(syncError));
        this.#fault = undefined;
        for (const bytes of parts) this.#length += bytes.length;
        done();
      });
    });
  }

  async #takeBack(file: DiskFile, error: CodedError): Promise<void> {
    this.#fault = isCodedError(error, ErrorCode.DiskFull) ? error : fenced(error);
    this.#source.log.error("A metadata operation could not be journaled.", { path: file.path, error });
    try {
      await file.truncate(this.#length);
      // Else power loss may bring back bytes of the group, in a file that others follow by then.
      await datasync(file);
    } catch (cause) {
      this.fence(isCodedError(cause) ? cause : error);
    }
  }

  /** Starts a new file behind the last op, unless the newest holds no op yet. */
  async roll(last: JournalStart): Promise<void> {
    const { disk, path } = this.#source;
    if (this.#startOps.at(-1) === last.op) return;
    // What a fenced file holds is in doubt, so no other may follow it.
    if (this.isFenced) return;
    const next = `${path}/${journalFileName(last.op)}`;
    let file: DiskFile;
    try {
      await createJournalFile(this.#source, last);
      file = await disk.openFile(next, "read-write");
    } catch (error) {
      await this.#fenceWhenThere(next, error);
      throw error;
    }
    await this.#file?.close().catch(() => undefined);
    this.#file = file;
    this.#length = RECORD_HEADER_LENGTH;
    this.#startOps.push(last.op);
  }

  /** Where a new file was begun, no op may go to the one before it any more. */
  async #fenceWhenThere(next: string, error: unknown): Promise<void> {
    const found = await this.#source.disk.stat(next).catch(() => "unknown");
    if (found !== undefined && isCodedError(error)) this.fence(error);
  }

  /** Takes every op above `op` out of the files, and answers the last one. Fenced when the disk refuses. */
  async cut(op: number): Promise<JournalStart> {
    try {
      await this.#file?.close();
      const { file, length, last } = await cutJournal(this.#source, this.#startOps, op);
      this.#file = file;
      this.#length = length;
      return last;
    } catch (error) {
      if (isCodedError(error)) this.fence(error);
      throw error;
    }
  }

  /** Removes what a snapshot of `op` covers: files whose next one starts at or below it. */
  async removeCovered(op: number): Promise<void> {
    const { disk, path } = this.#source;
    while ((this.#startOps[1] ?? Number.POSITIVE_INFINITY) <= op) {
      await disk.removeFile(`${path}/${journalFileName(this.#startOps[0] ?? 0)}`);
      this.#startOps.shift();
    }
    await disk.syncDirectory(path);
  }

  /** Reads one op back; nothing when it lies before the oldest file. */
  read(op: number): Promise<JournalRecord | undefined> {
    return readJournalOp(this.#source, this.#startOps, op);
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}

function fenced(cause: CodedError): CodedError {
  if (cause.code === ErrorCode.FileFenced) return cause;
  const text = "A write or sync of the metadata journal failed; start again to go on.";
  return new CodedError(ErrorCode.FileFenced, text, { details: cause.details, cause });
}
