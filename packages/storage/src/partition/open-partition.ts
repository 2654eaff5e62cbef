import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Disk } from "@millrace/platform";
import { syncUpwards } from "../data-directory/durable-directory.ts";
import { SparseIndex } from "../index-file/sparse-index.ts";
import { encodeCheckpoint } from "../op-record/checkpoint.ts";
import { makeSure } from "../recovery/make-sure.ts";
import { type Recovery, recoverPartition } from "../recovery/recover-partition.ts";
import type { RecoverySource } from "../recovery/recovery-source.ts";
import { type RepairReport, repairDamage } from "../recovery/repair-damage.ts";
import { cutTail } from "../recovery/torn-tail.ts";
import { writeAt } from "../segment/file-calls.ts";
import { ReadHandles } from "../segment/read-handles.ts";
import { emptySegment } from "../segment/segment.ts";
import {
  closeSegmentFiles,
  createSegmentFiles,
  openSegmentFiles,
  type SegmentFiles,
} from "../segment/segment-files.ts";
import { Commits } from "./commits.ts";
import { fenced } from "./fence.ts";
import { GroupWriter } from "./group-writer.ts";
import { Partition } from "./partition.ts";
import type { PartitionOptions } from "./partition-options.ts";
import { PartitionState } from "./partition-state.ts";

/**
 * Opens a partition, making it when its directory holds none, and recovers it to the last op that verifies.
 *
 * What recovery found to be journaled is not visible until `commit` says how far it was committed; on one
 * node call `commit(partition.lastOp)`. A read-only partition commits by itself. Damage does not make opening
 * fail: see `partition.fault`.
 * @throws CodedError `FeatureUnavailable` for the role `shared`; `FormatTooNew`; what the disk answers
 */
export async function openPartition(options: PartitionOptions): Promise<Partition> {
  if (options.role === "shared") throw sharedUnavailable();
  return new Opening(options).run();
}

/** Removes a partition's files and makes that survive power loss. No error when there are none. */
export async function deletePartitionFiles(disk: Disk, path: string): Promise<void> {
  await disk.removeDirectory(path);
  const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  if ((await disk.stat(parent)) !== undefined) await disk.syncDirectory(parent);
}

/** The steps of opening one partition and the parts they share. */
class Opening {
  readonly #options: PartitionOptions;
  readonly #state: PartitionState;
  readonly #handles: ReadHandles;
  readonly #commits: Commits;
  readonly #opened: Promise<void>;
  #markOpened = () => {};
  #writer: GroupWriter | undefined;
  /** Files that recovery left open, until the writer takes them. */
  #recovered: SegmentFiles | undefined;
  #partition: Partition | undefined;

  constructor(options: PartitionOptions) {
    this.#options = options;
    this.#state = new PartitionState(options);
    this.#handles = new ReadHandles(options.disk);
    this.#opened = new Promise((resolve) => {
      this.#markOpened = resolve;
    });
    this.#commits = new Commits(this.#state, {
      disk: options.disk,
      handles: this.#handles,
      mayRemoveFiles: options.role === "exclusive",
      consumerOffsetsMax: options.consumerOffsetsMax,
      makeSure: () => this.#makeSure(),
      onPurged: (generation) => this.#partition?.forgetBefore(generation),
    });
  }

  async run(): Promise<Partition> {
    try {
      return await this.#open();
    } finally {
      if (this.#recovered !== undefined) await closeSegmentFiles(this.#recovered);
      this.#markOpened();
    }
  }

  async #open(): Promise<Partition> {
    const state = this.#state;
    const source = { options: this.#options, state, commits: this.#commits };
    const recovery = await recoverPartition(source);
    this.#recovered = recovery.files;
    if (this.#options.role === "exclusive") await makeSure(source, recovery);
    this.#commits.startRemoving();
    const repaired = await this.#repairWhenAsked(source);
    if (this.#options.role === "exclusive" && state.fault === undefined) await this.#makeWriter(recovery);
    state.accepted = { ...state.journaled };
    this.#partition = new Partition({
      options: this.#options,
      state,
      commits: this.#commits,
      handles: this.#handles,
      writer: this.#writer,
      repaired,
    });
    if (this.#options.role === "read-only") this.#partition.commit(state.journaled.op);
    return this.#partition;
  }

  async #repairWhenAsked(source: RecoverySource): Promise<RepairReport | undefined> {
    const { repair, role } = this.#options;
    return repair === undefined || role !== "exclusive" ? undefined : repairDamage(source, repair);
  }

  /**
   * What was replayed may be in no file for good yet: a removal waits until the writer can sync it. Without a
   * writer nothing is removed. The files hold ops that a replica reads back at its start unless its journal
   * says that they are committed. What is half removed tells that a segment followed.
   */
  async #makeSure(): Promise<void> {
    await this.#opened;
    if (this.#writer === undefined) throw this.#state.fault ?? shuttingDown();
    if (this.#options.isReplica === true) await this.#writer.markCommit();
    await this.#writer.files.sync();
    await this.#writer.notesWritten();
  }

  async #makeWriter(recovery: Recovery): Promise<void> {
    const { disk, path } = this.#options;
    const files = await this.#filesToGoOn(recovery);
    this.#writer = this.#writerOn(files, recovery.isClosed);
    if (recovery.isNew) void this.#writer.files.settle();
    const { durability, offsetDurability, isReplica } = this.#options;
    const isPersisted = durability === "persisted" || offsetDurability === "persisted";
    try {
      // Else power loss may leave a batch without the record it follows, which looks like damage.
      if (recovery.isNew && (isPersisted || isReplica === true)) await this.#writer.files.syncsUnderWay();
      if (recovery.lacksLog) await disk.syncDirectory(path);
      await this.#repair(recovery, this.#writer);
    } catch (error) {
      await this.#writer.files.close();
      this.#writer = undefined;
      if (!isCodedError(error)) throw error;
      this.#state.fault = error.code === ErrorCode.DiskFull ? error : fenced(error);
      this.#state.log.error("The partition could not be made ready for writing.", { path, error });
    }
  }

  async #filesToGoOn({ isNew, files }: Recovery): Promise<SegmentFiles> {
    const active = this.#state.active;
    if (isNew || active === undefined) return this.#createFirst();
    if (files?.log.path !== this.#state.filePath(active, "log")) {
      return openSegmentFiles(this.#options.disk, this.#options.path, active);
    }
    this.#recovered = undefined;
    return files;
  }

  /**
   * Cuts the torn tail. Offsets its messages had are not given out again: the next segment begins behind
   * them, and it is there before the evidence is cut. On a replica the ops of the tail come again. A segment
   * that the next one makes superfluous is cut too: power loss may bring its removed `.ops` back.
   */
  async #repair(recovery: Recovery, writer: GroupWriter): Promise<void> {
    const { journaled, active } = this.#state;
    if (recovery.frontier > journaled.nextOffset && this.#options.isReplica !== true) {
      journaled.nextOffset = recovery.frontier;
      await writer.rollToJournaled();
    }
    if (recovery.torn !== undefined) await cutTail(this.#options, recovery.torn);
    const isPurged = journaled.generation !== active?.generation;
    if (isPurged) await writer.rollToJournaled();
    await writer.makeUpNotes();
  }

  #writerOn(files: SegmentFiles, hasClosingRecord: boolean): GroupWriter {
    const {
      disk,
      kernel,
      segmentLengthMax,
      reservedLength = 0,
      durability,
      offsetDurability,
      isReplica = false,
    } = this.#options;
    return new GroupWriter({
      disk,
      kernel,
      state: this.#state,
      files,
      hasClosingRecord,
      segmentLengthMax,
      reservedLength,
      isReplica,
      durability,
      offsetDurability,
      onJournaled: () => this.#commits.advance(),
      onLeft: (segment) => this.#commits.leave(segment),
      onFault: () => this.#partition?.rollBack(),
    });
  }

  /**
   * The first segment of a new partition, with names that survive power loss where the topic asks for that.
   */
  async #createFirst(): Promise<SegmentFiles> {
    const { disk, path, kernel, reservedLength = 0, durability, offsetDurability } = this.#options;
    await disk.makeDirectory(path);
    const segment = emptySegment({ generation: 0, firstOffset: 0 });
    const files = await createSegmentFiles(disk, path, segment, reservedLength);
    const record = encodeCheckpoint(kernel, this.#state.checkpoint(segment, false));
    await writeAt(files.ops, record, 0);
    segment.opsLength = record.length;
    segment.index = new SparseIndex();
    this.#state.segments.push(segment);
    if (durability === "persisted" || offsetDurability === "persisted") await syncUpwards(disk, path);
    return files;
  }
}

function shuttingDown(): CodedError {
  return new CodedError(ErrorCode.ShuttingDown, "The partition did not open.");
}

function sharedUnavailable(): CodedError {
  return new CodedError(
    ErrorCode.FeatureUnavailable,
    "Opening a partition for several writing processes comes with the embedded log.",
    { details: { role: "shared" } },
  );
}
