import { ErrorCode, isCodedError } from "@millrace/errors";
import type { Disk, DiskFile } from "@millrace/platform";
import { datasync } from "../segment/file-calls.ts";
import { closeSegmentFiles, type SegmentFiles } from "../segment/segment-files.ts";
import { asCodedError, fenced, mayPass } from "./fence.ts";
import type { PartitionState } from "./partition-state.ts";

/**
 * The two files of the active segment and what of them is not synced yet.
 *
 * A sync that fails fences the partition (`state.fault`): what it covered is in doubt. Files are never closed
 * under a sync.
 */
export class ActiveFiles {
  readonly #disk: Disk;
  readonly #state: PartitionState;
  #files: SegmentFiles;
  /**
   * Bytes may have been written since the last datasync began: by us, by the process before, or with the
   * first record of the segment.
   */
  #isDirty = true;
  /** The latest sync outside the groups; never rejects. */
  #syncing: Promise<void> = Promise.resolve();

  constructor(disk: Disk, state: PartitionState, files: SegmentFiles) {
    this.#disk = disk;
    this.#state = state;
    this.#files = files;
  }

  get log(): DiskFile {
    return this.#files.log;
  }

  get ops(): DiskFile {
    return this.#files.ops;
  }

  /** A write came to its end. */
  noteWritten(): void {
    this.#isDirty = true;
  }

  /** Starts a datasync of both files for a group; `done` is called for each. */
  syncGroup(done: Parameters<DiskFile["datasync"]>[0]): void {
    this.#isDirty = false;
    this.#files.log.datasync(done);
    this.#files.ops.datasync(done);
  }

  /**
   * Makes everything journaled so far survive power loss.
   * @throws CodedError `FileFenced` when this sync or an earlier one failed
   */
  async sync(): Promise<void> {
    await this.syncsUnderWay();
    if (!this.#isDirty) return;
    this.#isDirty = false;
    const { log, ops } = this.#files;
    await this.#track(Promise.all([datasync(log), datasync(ops)]));
  }

  /**
   * Begins to make the names and the first record of a new segment survive power loss. Persisted topics wait
   * for it; the others do not, but soon after a roll a power loss finds a segment that begins as it should.
   */
  settle(): void {
    const { path } = this.#state;
    void this.#track(Promise.all([datasync(this.#files.ops), this.#disk.syncDirectory(path)])).catch(
      () => undefined,
    );
  }

  /**
   * Waits for every sync that began outside the groups. @throws CodedError `FileFenced` when one of them
   * failed
   */
  async syncsUnderWay(): Promise<void> {
    let waited: Promise<void> | undefined;
    while (waited !== this.#syncing) {
      waited = this.#syncing;
      await waited;
    }
    const { fault } = this.#state;
    if (isCodedError(fault, ErrorCode.FileFenced)) throw fault;
  }

  /** Goes on with the files of the next segment: what syncs from now on syncs them, never closed ones. */
  async replace(files: SegmentFiles): Promise<void> {
    const before = this.#files;
    this.#files = files;
    this.#isDirty = true;
    try {
      await this.syncsUnderWay();
    } finally {
      await closeSegmentFiles(before);
    }
  }

  async close(): Promise<void> {
    await this.syncsUnderWay().catch(() => undefined);
    await closeSegmentFiles(this.#files);
  }

  async #track(sync: Promise<unknown>): Promise<void> {
    const before = this.#syncing;
    this.#syncing = Promise.all([before, sync]).then(
      () => undefined,
      (error: unknown) => this.#distrust(error),
    );
    try {
      await sync;
    } catch (error) {
      // Whatever the reason: a full disk that refuses a datasync leaves the same doubt.
      throw fenced(asCodedError(error));
    }
  }

  /** What a failed sync covered is in doubt: nothing more is written, also once a full disk has space. */
  #distrust(error: unknown): void {
    const { path, log, fault } = this.#state;
    if (fault === undefined || mayPass(fault)) this.#state.fault = fenced(asCodedError(error));
    log.error("The files of a partition could not be synced.", { path, error });
  }
}
