import { isCodedError } from "@millrace/errors";
import type { ChecksumKernel } from "@millrace/framing";
import type { Disk } from "@millrace/platform";
import { RECORD_ALIGNMENT } from "../op-record/record.ts";
import { encodeSuccessorMark } from "../op-record/successor-mark.ts";
import { datasync, isAbsent, readAt, writeAt } from "../segment/file-calls.ts";
import type { Segment } from "../segment/segment.ts";
import type { SegmentName } from "../segment/segment-name.ts";
import type { PartitionState } from "./partition-state.ts";

/** What notes are written with. */
export interface SuccessorNotesOptions {
  readonly disk: Disk;
  readonly kernel: ChecksumKernel;
  readonly state: PartitionState;
  /** Something of the topic is synced before it is answered. */
  readonly isPersisted: boolean;
  /** See `PartitionOptions`. */
  readonly isReplica: boolean;
}

/** Two segments that follow each other. */
export interface Neighbours {
  readonly sealed: Segment;
  readonly next: SegmentName;
}

/** Where in the `.ops` of a sealed segment a note of the next one is to be written. */
interface NotePlace extends Neighbours {
  readonly at: number;
}

/**
 * Says at the end of a sealed segment's `.ops` that the next one was begun: where that one is gone with all
 * its files nothing else tells that it was there.
 *
 * No note names a segment that power loss may take away again. What cannot be noted now the next start notes.
 */
export class SuccessorNotes {
  readonly #options: SuccessorNotesOptions;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(options: SuccessorNotesOptions) {
    this.#options = options;
  }

  /**
   * Notes a segment that has just begun, before anything in it is answered. Where nothing is synced that is
   * done a little later, unless it is on a replica: after a loss of power that one trusts its files in no
   * case.
   * @param settled  with whether the next segment survives power loss
   */
  async begun(neighbours: Neighbours, settled: Promise<boolean>): Promise<void> {
    const { isPersisted, isReplica } = this.#options;
    if (isPersisted || isReplica) {
      await this.#noteFirst(neighbours);
      return;
    }
    const noted = settled.then((isSettled) => (isSettled ? this.#noteFirst(neighbours) : undefined));
    this.#underWay = Promise.all([this.#underWay, noted]).then(() => undefined);
  }

  /**
   * Makes up at a start for notes that are missing: the files are another replica's or older than such notes,
   * or a kill or a repair came first. Goes back from the active segment to the first one that tells of the
   * next; those without an `.ops` cannot tell and are passed by. The oldest note comes first, so that one
   * that is there has no gap before it.
   * @param settle  makes the active segment survive power loss; answers whether it does
   */
  async makeUp(settle: () => Promise<boolean>): Promise<void> {
    const lacking = await this.#findLacking();
    if (lacking.length === 0 || !(await settle())) return;
    const isSynced = this.#options.isPersisted || lacking.length > 1;
    for (const place of lacking.toReversed()) await this.#tell(() => this.#write(place, isSynced));
  }

  /** Settles when no note is on its way. */
  async idle(): Promise<void> {
    await this.#underWay;
  }

  /** Whatever keeps a note from being written keeps nothing else from going on. */
  async #tell(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!isCodedError(error)) throw error;
      const { path, log } = this.#options.state;
      if (!isAbsent(error)) log.warn("That a segment was begun could not be noted.", { path, error });
    }
  }

  async #noteFirst(neighbours: Neighbours): Promise<void> {
    const { isPersisted } = this.#options;
    const at = neighbours.sealed.opsLength;
    // Behind the last record lies nothing yet, neither a note nor a torn tail.
    const isMissing = (await this.#lengthOf(neighbours.sealed)) === at;
    if (isMissing) await this.#tell(() => this.#write({ ...neighbours, at }, isPersisted));
  }

  /** The segments that do not tell of the next one there is, newest first. */
  async #findLacking(): Promise<NotePlace[]> {
    const { segments } = this.#options.state;
    const lacking: NotePlace[] = [];
    let next = segments.at(-1);
    for (const sealed of segments.slice(0, -1).toReversed()) {
      const length = await this.#lengthOf(sealed);
      if (length === undefined || next === undefined) continue;
      const at = await this.#placeOfNote({ sealed, next }, length);
      if (at === undefined) break;
      lacking.push({ sealed, next, at });
      next = sealed;
    }
    return lacking;
  }

  /**
   * Where the note belongs that an `.ops` of `length` bytes lacks: behind the last record, over what a kill
   * or power loss left of a note; behind the end where something else lies there, harmed records or the note
   * of a segment that is gone. Nothing when it has the note, or its own end is gone.
   */
  async #placeOfNote({ sealed, next }: Neighbours, length: number): Promise<number | undefined> {
    const { opsLength } = sealed;
    if (length <= opsLength) return length === opsLength ? opsLength : undefined;
    const mark = encodeSuccessorMark(this.#options.kernel, next);
    const end = await this.#endOf(sealed, Math.min(length - opsLength, mark.length), length);
    if (end === undefined || isMark(end, mark)) return undefined;
    const isAllThere = length - opsLength === end.length;
    const isTorn = isAllThere && end.every((byte, at) => byte === 0 || byte === mark[at]);
    return isTorn ? opsLength : Math.ceil(length / RECORD_ALIGNMENT) * RECORD_ALIGNMENT;
  }

  /** The last `count` bytes of an `.ops`; nothing when they cannot be read. */
  async #endOf(sealed: Segment, count: number, length: number): Promise<Uint8Array | undefined> {
    const { disk, state } = this.#options;
    const bytes = new Uint8Array(count);
    const file = await disk.openFile(state.filePath(sealed, "ops"), "read").catch(() => undefined);
    if (file === undefined) return undefined;
    try {
      await readAt(file, bytes, length - count);
      return bytes;
    } catch {
      return undefined;
    } finally {
      await file.close().catch(() => undefined);
    }
  }

  /** Bytes of a segment's `.ops`; nothing when it is not there or nobody can tell. */
  async #lengthOf(sealed: Segment): Promise<number | undefined> {
    const { disk, state } = this.#options;
    const found = await disk.stat(state.filePath(sealed, "ops")).catch(() => undefined);
    return found?.length;
  }

  async #write({ sealed, next, at }: NotePlace, isSynced: boolean): Promise<void> {
    const { disk, kernel, state } = this.#options;
    const file = await disk.openFile(state.filePath(sealed, "ops"), "read-write");
    try {
      await writeAt(file, encodeSuccessorMark(kernel, next), at);
      if (isSynced) await datasync(file);
    } finally {
      await file.close().catch(() => undefined);
    }
  }
}

/** True for the very note, also when one bit of it is changed: a start reads it all the same. */
function isMark(bytes: Uint8Array, mark: Uint8Array): boolean {
  if (bytes.length !== mark.length) return false;
  let changedBits = 0;
  for (const [at, byte] of mark.entries()) {
    for (let wrong = byte ^ (bytes[at] ?? 0); wrong !== 0; wrong &= wrong - 1) changedBits += 1;
  }
  return changedBits <= 1;
}
