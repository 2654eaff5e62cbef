import { isCodedError } from "@millrace/errors";
import type { ChecksumKernel } from "@millrace/framing";
import type { Disk } from "@millrace/platform";
import { encodeSuccessorMark, SUCCESSOR_MARK_LENGTH } from "../op-record/successor-mark.ts";
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
   * Makes up at a start for a note that is missing: the files are another replica's or older than such notes,
   * or a kill came first.
   * @param settle  makes the next segment survive power loss; answers whether it does
   */
  async makeUp(neighbours: Neighbours, settle: () => Promise<boolean>): Promise<void> {
    const isLacking = (await this.#isMissing(neighbours)) || (await this.#isTorn(neighbours));
    if (isLacking && (await settle())) await this.#tell(() => this.#write(neighbours));
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
    if (await this.#isMissing(neighbours)) await this.#tell(() => this.#write(neighbours));
  }

  /** What a kill or power loss left of a note lies behind the last record: parts of it, or zeros. */
  async #isTorn({ sealed, next }: Neighbours): Promise<boolean> {
    const { disk, kernel, state } = this.#options;
    const length = (await this.#lengthOf(sealed)) - sealed.opsLength;
    if (length <= 0 || length > SUCCESSOR_MARK_LENGTH) return false;
    const bytes = new Uint8Array(length);
    const file = await disk.openFile(state.filePath(sealed, "ops"), "read").catch(() => undefined);
    if (file === undefined) return false;
    try {
      await readAt(file, bytes, sealed.opsLength);
    } catch {
      return false;
    } finally {
      await file.close().catch(() => undefined);
    }
    const mark = encodeSuccessorMark(kernel, next);
    const isWhole = length === mark.length && mark.every((byte, at) => byte === bytes[at]);
    return !isWhole && bytes.every((byte, at) => byte === 0 || byte === mark[at]);
  }

  /** Behind the last record lies nothing yet, neither a note nor a torn tail. */
  async #isMissing({ sealed }: Neighbours): Promise<boolean> {
    return (await this.#lengthOf(sealed)) === sealed.opsLength;
  }

  /** Bytes of a segment's `.ops`; 0 when it is not there or nobody can tell. */
  async #lengthOf(sealed: Segment): Promise<number> {
    const { disk, state } = this.#options;
    const found = await disk.stat(state.filePath(sealed, "ops")).catch(() => undefined);
    return found?.length ?? 0;
  }

  async #write({ sealed, next }: Neighbours): Promise<void> {
    const { disk, kernel, state, isPersisted } = this.#options;
    const file = await disk.openFile(state.filePath(sealed, "ops"), "read-write");
    try {
      await writeAt(file, encodeSuccessorMark(kernel, next), sealed.opsLength);
      if (isPersisted) await datasync(file);
    } finally {
      await file.close().catch(() => undefined);
    }
  }
}
