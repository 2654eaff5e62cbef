import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import type { Disk, Log } from "@millrace/platform";
import type { BatchCipher } from "../encryption/batch-cipher.ts";
import type { PartitionIdentity } from "../op-record/checkpoint.ts";
import type { RepairedOffsets } from "../recovery/repair-damage.ts";
import type { TailCache } from "../tail-cache/tail-cache.ts";
import type { Durability } from "./group-writer.ts";

/**
 * How a partition's files are used.
 * - `exclusive`: one writer, nobody else; repairs a torn tail.
 * - `read-only`: looks at what is there when it opens; takes no lock, repairs nothing, refuses appends.
 * - `shared`: several writing processes under a lock; not built yet, answers `FeatureUnavailable`.
 */
export type StorageRole = "exclusive" | "shared" | "read-only";

/** Everything a partition is opened with. Lengths are bytes. */
export interface PartitionOptions {
  readonly disk: Disk;
  /** Directory of the partition, relative to the disk's root. */
  readonly path: string;
  readonly identity: PartitionIdentity;
  readonly kernel: ChecksumKernel;
  /** Blocks in the kernel's memory, for reads and for small batches. */
  readonly pool: BlockPool;
  readonly tailCache: TailCache;
  readonly log: Log;
  readonly role: StorageRole;
  /** A segment is sealed by the append that reaches this; that batch still lands whole. */
  readonly segmentLengthMax: number;
  /** Bytes of space asked for when a segment is made; the disk may refuse without harm. Default 0. */
  readonly reservedLength?: number;
  /** When the `done` of a batch is called: after the write, or after a datasync of both files. */
  readonly durability: Durability;
  /** The same for stored and deleted consumer offsets. */
  readonly offsetDurability: Durability;
  /** Whether batches read from disk are checked before they are served. */
  readonly validateChecksums: boolean;
  /** Most stored offsets per kind. */
  readonly consumerOffsetsMax: number;
  /** Given: damage that keeps an `exclusive` partition from taking writes is left behind, see `repairDamage`. */
  readonly repair?: RepairedOffsets | undefined;
  /**
   * Other replicas know which offsets were given out: those of a torn tail come again with the ops that had
   * them. Default false: they are passed over.
   */
  readonly isReplica?: boolean;
  /**
   * This replica has noted that it may have lost what it did not sync, and gets what is missing from the
   * others: on a topic whose messages or offsets are not synced, what a lost sector explains is the torn end
   * of the journal, whatever follows it, and the mark of a clean close proves nothing. A message that was
   * synced stays what it was: one that an op follows and that does not hold is damage. Default false: lost
   * sectors may be damage too.
   */
  readonly isLossKnown?: boolean;
  /**
   * On a replica, called before anything is changed: the newest segment is gone with its files, so the
   * journal may once have held more than it does. It is opened with what it holds when that has settled, not
   * at all when it rejects; without the callback it is opened likewise. It has a fault and goes on with
   * nothing when sealed segments are missing too, or what is left is damaged. A partition that is no replica
   * is damaged then.
   */
  readonly onSegmentGone?: (() => Promise<void>) | undefined;
  /** Clients whose latest requests are remembered, so that a repetition is known; default 4096. */
  readonly requestClientsMax?: number;
  /** Opens the batches of an encrypted data directory when they are read; absent when it is not encrypted. */
  readonly batchCipher?: BatchCipher | undefined;
}
