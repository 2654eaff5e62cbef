import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Disk, DiskFile } from "@millrace/platform";
import { datasync } from "../segment/file-calls.ts";
import { closeSegmentFiles, type SegmentFiles } from "../segment/segment-files.ts";
import { asCodedError, fenced, mayPass } from "./fence.ts";
import type { PartitionState } from "./partition-state.ts";

/**
 * A sync that no acknowledgement waits for begins when so small a part is left of what was left at the one
 * before: of 1 GiB behind 768, 960, 1008 MiB and so on. The disk has most of what comes before by then.
 */
const LEFT_PART = 0.25;

/**
 * The two files of the active segment and what of them is not synced yet.
 *
 * A sync that fails fences the partition (`state.fault`): what it covered is in doubt. Of two syncs of a file
 * that overlap a system tells one of a failure, so neither is believed before both are over. Files are
 * never closed under a sync.
 */
export class ActiveFiles {
  readonly #disk: Disk;
  readonly #state: PartitionState;
  #files: SegmentFiles;
  /**
   * Writes that came to their end: ours, those of the process before, the first record of the segment; and
   * how many of them a sync covers that came back.
   */
  #writtenCount = 1;
  #syncedCount = 0;
  /** The latest sync outside the groups; never rejects. */
  #syncing: Promise<void> = Promise.resolve();
  #syncsOut = 0;
  /** What was free of the segment when a sync ahead began. */
  #leftAtSync = 1;
  /** What the datasyncs of a group failed with, the latest time. */
  #groupFailure: CodedError | undefined;
  /** Who waits for the datasyncs of a group; nothing while none is under way. */
  #whenGroupSynced: ((error: CodedError | undefined) => void)[] | undefined;

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
    this.#writtenCount += 1;
  }

  /**
   * Datasyncs both files for a group, one group at a time. `done` is called once, with what failed: of these
   * two or of a sync that was under way beside them.
   */
  syncGroup(done: (error?: CodedError) => void): void {
    const covered = this.#writtenCount;
    this.#whenGroupSynced = [];
    let failure: CodedError | undefined;
    let callsOut = 2;
    const onSynced = (error?: CodedError) => {
      failure ??= error;
      callsOut -= 1;
      if (callsOut > 0) return;
      this.#endGroup(covered, failure);
      if (failure !== undefined || (this.#syncsOut === 0 && !this.#isFenced)) done(failure);
      else this.syncsUnderWay().then(() => done(), done);
    };
    this.#files.log.datasync(onSynced);
    this.#files.ops.datasync(onSynced);
  }

  #endGroup(covered: number, failure: CodedError | undefined): void {
    if (failure === undefined) this.#syncedCount = Math.max(this.#syncedCount, covered);
    else this.#groupFailure = failure;
    const waiting = this.#whenGroupSynced ?? [];
    this.#whenGroupSynced = undefined;
    for (const tell of waiting) tell(failure);
  }

  /**
   * Makes everything journaled so far survive power loss, one such sync at a time. It is believed when no
   * group's datasyncs beside it failed.
   * @throws CodedError `FileFenced` when this sync or an earlier one failed
   */
  async sync(): Promise<void> {
    // Several may have waited for the same one: whoever goes on first is the next to be waited for.
    do await this.syncsUnderWay();
    while (this.#syncsOut > 0);
    const covered = this.#writtenCount;
    if (this.#syncedCount === covered) return;
    const { log, ops } = this.#files;
    await this.#track(Promise.all([datasync(log), datasync(ops)]));
    this.#syncedCount = Math.max(this.#syncedCount, covered);
  }

  /**
   * Begins such a sync while the segment comes near its end, unless another is under way: what a roll waits
   * for is little then, however long the segment.
   * @param left  what is free of the segment, 1 when it is empty
   */
  syncAhead(left: number): void {
    if (left > LEFT_PART * this.#leftAtSync || this.#syncsOut > 0) return;
    this.#leftAtSync = left;
    const covered = this.#writtenCount;
    const { log, ops } = this.#files;
    this.#track(Promise.all([datasync(log), datasync(ops)])).then(
      () => {
        this.#syncedCount = Math.max(this.#syncedCount, covered);
      },
      () => undefined,
    );
  }

  /** A sync outside the groups that ends when a group's datasyncs beside it have, and fails when they do. */
  async #besideGroups(sync: Promise<unknown>): Promise<void> {
    const before = this.#groupFailure;
    await sync;
    await this.#groupSynced();
    if (this.#groupFailure !== before) throw this.#groupFailure;
  }

  /** Waits for a group's datasyncs that are under way. @throws CodedError what one of them failed with */
  #groupSynced(): Promise<void> {
    const waiting = this.#whenGroupSynced;
    if (waiting === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      waiting.push((error) => (error === undefined ? resolve() : reject(error)));
    });
  }

  /**
   * Begins to make the names and the first record of a new segment survive power loss. Persisted topics wait
   * for it; the others do not, but soon after a roll a power loss finds a segment that begins as it should.
   * Settles with whether they survive.
   */
  settle(): Promise<boolean> {
    const { path } = this.#state;
    const synced = Promise.all([datasync(this.#files.ops), this.#disk.syncDirectory(path)]);
    return this.#track(synced).then(
      () => true,
      () => false,
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
    if (this.#isFenced) throw this.#state.fault;
  }

  get #isFenced(): boolean {
    return isCodedError(this.#state.fault, ErrorCode.FileFenced);
  }

  /** Goes on with the files of the next segment: what syncs from now on syncs them, never closed ones. */
  async replace(files: SegmentFiles): Promise<void> {
    const before = this.#files;
    this.#files = files;
    this.#leftAtSync = 1;
    this.#writtenCount += 1;
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

  async #track(calls: Promise<unknown>): Promise<void> {
    const sync = this.#besideGroups(calls);
    const before = this.#syncing;
    this.#syncsOut += 1;
    this.#syncing = Promise.all([before, sync])
      .then(
        () => undefined,
        (error: unknown) => this.#distrust(error),
      )
      .then(() => {
        this.#syncsOut -= 1;
      });
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
