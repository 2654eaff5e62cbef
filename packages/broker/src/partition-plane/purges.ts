import { type Partition, StorageOperation } from "@millrace/storage";
import type { PartitionOp, PurgeOp, QueuedOp } from "./partition-op.ts";

/**
 * Purges of one partition since the start that were submitted here or journaled, and that came to their end.
 * What was read before the end of one may be gone behind it, so no offset of it is stored then.
 */
export class Purges {
  begun = 0;
  ended = 0;
  /** Decided and not to be written yet: nothing else is written before it. */
  #owed: PurgeOp | undefined = undefined;
  readonly #followed = new Set<QueuedOp>();
  #decided = 0;
  #confirmed = 0;

  /** True from the submit of a purge to its end: an offset that is stored now would outlive its messages. */
  get isUnderWay(): boolean {
    return this.begun > this.ended;
  }

  /** True while a purge has to be written before anything else. */
  get isOwed(): boolean {
    return this.#owed !== undefined;
  }

  /** Notes that the catalog has decided on a purge, which a restart does not undo: from now on it counts. */
  decide(generation: number): void {
    this.#decided = Math.max(this.#decided, generation);
  }

  /** The last purge that was decided on; 0 before the first since the start. */
  get decided(): number {
    return this.#decided;
  }

  /** The group's primary has said that this purge is committed, which a silent replica does not hear. */
  confirm(generation: number): void {
    this.#confirmed = Math.max(this.#confirmed, generation);
  }

  /** True once the primary has said that this purge, or a later one, is committed. */
  isConfirmed(generation: number): boolean {
    return generation <= this.#confirmed;
  }

  /** True until the purge decided on has its place in the log: what gets one before is taken by it. */
  isAwaitedIn({ purgeGeneration }: Partition): boolean {
    return purgeGeneration < this.#decided;
  }

  /** True while what the partition holds is to be purged: nobody is shown it any more. */
  isDueIn({ committedPurgeGeneration }: Partition): boolean {
    return committedPurgeGeneration < this.#decided;
  }

  /**
   * A purge that is counted from now to its end. One that fails is owed, when the group may owe it: whatever
   * is written later is written behind it, so that it never takes what came after its answer.
   */
  counted(op: PurgeOp, mayOwe: () => boolean): PartitionOp {
    this.begun += 1;
    return {
      ...op,
      committed: (result) => {
        this.ended += 1;
        op.committed(result);
      },
      failed: (code) => {
        this.ended += 1;
        if (mayOwe()) this.owe(op);
        op.failed(code);
      },
    };
  }

  /** Counts a purge that this replica was told of, by another or by its journal, until `unfollow`. */
  follow(queued: QueuedOp): void {
    if (queued.op.operation !== StorageOperation.purge) return;
    this.#followed.add(queued);
    this.begun += 1;
  }

  /** An operation came to its end. */
  unfollow(queued: QueuedOp): void {
    if (this.#followed.delete(queued)) this.ended += 1;
  }

  /** Owes a purge, also to a partition that is not there to be written. */
  owe(op: PurgeOp): void {
    this.#owed = op;
  }

  /** The purge that is owed, no longer so; nothing when the files, in `generation`, know it already. */
  takeOwed(generation: number): PurgeOp | undefined {
    const op = this.#owed;
    this.#owed = undefined;
    return op !== undefined && op.generation > generation ? op : undefined;
  }
}
