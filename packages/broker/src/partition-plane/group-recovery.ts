import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Disk } from "@millrace/platform";
import {
  cutPartition,
  type GroupView,
  installIncoming,
  type Partition,
  type PartitionIdentity,
} from "@millrace/storage";
import type { Prepare } from "@millrace/vsr";
import type { GroupContext, ReplicationContext } from "./group-context.ts";
import { incomingPath, partitionPath } from "./partition-path.ts";
import type { RecoveredGroup } from "./replica-of.ts";
import { readSuffix } from "./stored-prepare.ts";

/** How a group is opened. */
export interface GroupBeginning {
  /** The view in which an op makes it, when one does. */
  readonly bornInView?: number | undefined;
  /** Nothing is acknowledged before it is synced. */
  readonly isSynced: boolean;
}

/** What a group of several replicas does around the opening of its files. */
export class GroupRecovery {
  readonly #context: GroupContext;
  readonly #replication: ReplicationContext;
  readonly #identity: PartitionIdentity;
  readonly #disk: Disk;
  #isNew = false;
  #isForgotten = false;
  #isEmpty = false;

  constructor(
    context: GroupContext,
    from: {
      readonly replication: ReplicationContext;
      readonly identity: PartitionIdentity;
      readonly disk: Disk;
    },
  ) {
    this.#context = context;
    this.#replication = from.replication;
    this.#identity = from.identity;
    this.#disk = from.disk;
  }

  /**
   * Before the files are opened: finishes a cut, or the replacing of the files by another replica's, that a
   * kill interrupted; notes the view of a group that has just been made, so that one without a note is never
   * taken for new, nor one with a note when the op that made it is executed again. So does a group that came
   * with another node's metadata: it begins like one that was stopped, and may be normal in its first view
   * without another note. One that may have lost what it acknowledged, or whose files are gone, says so from
   * now on, until it has a view's whole log again: that it does not have an op proves nothing then.
   * @throws CodedError what the disk answers
   */
  async prepare({ bornInView, isSynced }: GroupBeginning): Promise<void> {
    const { viewLog, hasLostUnsynced } = this.#replication;
    const disk = this.#disk;
    const isKnown = viewLog.has(this.#identity);
    const path = partitionPath(this.#identity);
    this.#isForgotten =
      !isKnown && (this.#replication.isForgotten(this.#identity) || (await holds(disk, path)));
    if (!isKnown && !this.#isForgotten) {
      this.#isNew = bornInView !== undefined;
      const view = bornInView ?? 0;
      await this.#write({ view, logView: view });
    }
    if (isKnown && hasLostUnsynced && !isSynced) await this.#write({ mayHaveLost: true });
    const { cutAbove, hasIncoming } = viewLog.get(this.#identity);
    if (hasIncoming) {
      await installIncoming(disk, { from: incomingPath(this.#identity), to: path });
      await this.#write({ hasIncoming: false });
    }
    this.#isEmpty = !this.#isNew && !(await holdsSegment(disk, path));
    if (this.#isEmpty && isKnown) {
      await this.#noteLoss(
        "The files of a partition are gone; the replica may have lost what it acknowledged.",
      );
      return;
    }
    if (cutAbove === undefined) return;
    const { kernel, log } = this.#context;
    await cutPartition({ disk, path, identity: this.#identity, kernel, log }, cutAbove);
    await this.#write({ cutAbove: undefined });
  }

  /**
   * While the files are opened: the newest segment is gone with its files, while older ones are there. What
   * is left is a beginning of what the replica held, as after a loss of power, so its log view stands. Where
   * what it said is forgotten, nothing is noted: that says more, and a note would pass for its view.
   * @throws CodedError what the disk answers
   */
  async noteSegmentGone(): Promise<void> {
    if (!this.#isForgotten) await this.#write({ mayHaveLost: true });
  }

  /**
   * Nothing of the journal counts. The view is noted before the first files are made, so it may also be a
   * kill in between that left none: then the replica gives no nacks for nothing, until it is normal in a
   * view.
   */
  async #noteLoss(text: string): Promise<void> {
    const path = partitionPath(this.#identity);
    this.#context.log.warn(text, { ...this.#identity, path });
    if (!this.#isForgotten) await this.#write({ logView: 0, mayHaveLost: true, cutAbove: undefined });
  }

  /** The replica says that it may lack what it acknowledged; see `PartitionOptions`. Once prepared. */
  get isLossKnown(): boolean {
    return this.#isForgotten || this.#replication.viewLog.get(this.#identity).mayHaveLost;
  }

  /**
   * Where files of the journal are gone that it cannot do without, nothing of it counts: the replica goes on
   * as one that lost all its files, which is noted first, and what is left of them stays until another's
   * state takes its place. Bytes that changed are no such loss: somebody should look at that disk.
   * @param needsState  nothing of the journal counts: another replica's state is to take its place
   * @throws CodedError when a journaled op cannot be read back, but for damage
   * @see docs/adr/0066
   */
  async recover(partition: Partition, needsState = false): Promise<RecoveredGroup> {
    const facts = { isNew: this.#isNew, isForgotten: this.#isForgotten, isLost: this.#isEmpty };
    const withoutJournal = { ...facts, suffix: [], stateNeeded: partition.committedOp };
    if (needsState) return withoutJournal;
    const suffix = await this.#readWhole(partition);
    if (isCodedError(suffix)) {
      this.#tellDamage(partition, suffix);
      return { ...facts, suffix: [], fault: suffix };
    }
    if (suffix !== undefined) return { ...facts, suffix };
    await this.#noteLoss("Files of a partition are gone; the replica may have lost what it acknowledged.");
    return { ...withoutJournal, isLost: true };
  }

  /**
   * The journaled ops that are not known to be committed; nothing when files with some of them are gone, the
   * damage where one of them changed.
   */
  async #readWhole(partition: Partition): Promise<readonly Prepare[] | CodedError | undefined> {
    if (await this.#isFileGone(partition.fault)) return undefined;
    try {
      return await readSuffix(this.#context, partition);
    } catch (error) {
      if (await this.#isFileGone(error)) return undefined;
      if (isCodedError(error, ErrorCode.PartitionDamaged)) return error;
      throw error;
    }
  }

  /** What is damaged may be committed elsewhere: the end of what is shown is not the end there is. */
  #tellDamage(partition: Partition, damage: CodedError): void {
    partition.endsInDamage(damage);
    if (partition.fault !== undefined) return;
    const facts = { ...this.#identity, reason: damage.message };
    this.#context.log.error("An operation of a partition is damaged; the replica takes no part.", facts);
  }

  /** The damage is that a file is not there. @throws CodedError what the disk answers */
  async #isFileGone(error: unknown): Promise<boolean> {
    if (!isCodedError(error, ErrorCode.PartitionDamaged)) return false;
    const { path } = error.details;
    return typeof path === "string" && (await this.#disk.stat(path)) === undefined;
  }

  #write(changes: Partial<GroupView>): Promise<void> {
    return this.#replication.viewLog.note(this.#identity, changes);
  }
}

/**
 * True when files of the partition are there. Its view is noted before they are made, so where none is noted
 * it was deleted, and the op that made it is executed again: what it may have said is forgotten.
 */
async function holds(disk: Disk, path: string): Promise<boolean> {
  return (await disk.readDirectory(path)).length > 0;
}

/** True when records or messages are there: an index alone tells nothing. */
async function holdsSegment(disk: Disk, path: string): Promise<boolean> {
  const files = await disk.readDirectory(path);
  return files.some(({ name }) => name.endsWith(".ops") || name.endsWith(".log"));
}
