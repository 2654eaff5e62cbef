import type { CodedError } from "@millrace/errors";
import type { Lease } from "@millrace/framing";
import type { PollingStrategy, RepairPartitionReply, VerifyPartitionReply } from "@millrace/protocol";
import type { PartitionIdentity, ReadResult, RepairedOffsets, VerifyRequest } from "@millrace/storage";
import type { PolledOffsets } from "../consumer-groups/polled-offsets.ts";
import type { RetentionLook, TruncationOrder, TruncationOutcome } from "../retention/truncation.ts";
import type { ClientConnection } from "../sessions/client-connection.ts";
import type { OpResult } from "./partition-op.ts";
import type { PartitionSettings } from "./partition-settings.ts";
import type { ShownPartition } from "./shown-partition.ts";

/** Under which kind (1 consumer, 2 group) and number a partition stores somebody's offset. */
export interface OffsetKey {
  readonly kind: 1 | 2;
  readonly id: number;
}

/** What a partition holds. */
export interface PartitionContents {
  readonly byteLength: number;
  readonly messagesCount: number;
  readonly segmentsCount: number;
  /** Offset of the last readable message; 0 when there is none. */
  readonly currentOffset: number;
}

/** What is known of a partition that is not open: one empty segment. */
export const NO_CONTENTS: PartitionContents = {
  byteLength: 0,
  messagesCount: 0,
  segmentsCount: 1,
  currentOffset: 0,
};

/** What is shown of a stored partition; one empty segment while it is not open. */
export function contentsOf(partition: ShownPartition | undefined): PartitionContents {
  if (partition === undefined) return NO_CONTENTS;
  return {
    byteLength: partition.byteLength,
    messagesCount: partition.messageCount,
    segmentsCount: Math.max(1, partition.segmentCount),
    currentOffset: Math.max(0, partition.committedNextOffset - 1),
  };
}

/** A client's write on its way to a partition. Exactly one of `committed` and `failed` is called, once. */
export interface ClientOp {
  readonly client: bigint;
  readonly request: bigint;
  readonly user: number;
  /** See `PartitionOp.isNumbered`. */
  readonly isNumbered: boolean;
  committed(result: OpResult): void;
  failed(code: number): void;
}

/** The append of a batch of verified, unstamped bytes in the kernel's memory; the lease is taken over. */
export interface BatchOp extends ClientOp {
  /** `SendMessages`. */
  readonly operation: number;
  readonly batchLease: Lease;
  /** See `PartitionOp.session`. */
  readonly session: number;
  /** See `PartitionOp.isPassedOn`. */
  readonly isPassedOn?: boolean;
  /** The connection that is held back while too much is queued, where there is one. */
  readonly holder?: ClientConnection;
}

/** A client's request, by which a repetition of it is known, and the session that asks for it. */
export type SeenRequest = Pick<ClientOp, "client" | "request" | "user"> & Pick<BatchOp, "session">;

/** A write of a stored offset. */
export interface OffsetOp extends ClientOp {
  readonly key: OffsetKey;
  /**
   * Code with which it is refused, when the client may not write the offset any more. What repeats a write
   * that was done is confirmed all the same.
   */
  readonly refusal: number | undefined;
}

/** The store of an offset. The value is what a client gave: any u64. */
export interface StoreOffsetOp extends OffsetOp {
  readonly offset: bigint;
  /**
   * Number of the last purge before the messages that the offset is of; nothing where that is not known.
   * Behind another one it would hide new messages: nothing is moved then.
   */
  readonly generation?: number | undefined;
}

/** What a poll asks of a partition. */
export interface PollRequest {
  readonly key: OffsetKey;
  readonly strategy: PollingStrategy;
  readonly count: number;
  /** Bytes of batches. */
  readonly lengthMax: number;
  /** Refuses a consumer whose offset would find no room. */
  readonly needsOffsetRoom: boolean;
}

/**
 * Called once with the offset of the last readable message: an error, or what was read, which the caller
 * releases, or nothing when there is no more yet.
 */
export type PollDone = (
  error: CodedError | undefined,
  result: ReadResult | undefined,
  currentOffset: number,
) => void;

/** A stored offset, if there is one, and the offset of the last readable message. */
export interface StoredOffset {
  readonly stored: number | undefined;
  readonly currentOffset: number;
}

/**
 * One partition as commands and the catalog's effects use it, whichever shard owns it.
 *
 * Everything asked of one partition is done in the order in which it was asked. What is answered at once
 * (`contents`, `groupOffset`, `storedGroups`) is what this shard has heard.
 */
export interface PartitionHandle {
  readonly identity: PartitionIdentity;
  /** How far consumer groups have polled it; kept where the sessions are. */
  readonly polled: PolledOffsets;
  /** What it holds; call `PartitionPlane.freshen` before it has to be exact. */
  readonly contents: PartitionContents;
  /**
   * Purges since the start that were asked for and that came to their end. What was read before the end of
   * one may be gone behind it, so no offset of it is stored then.
   */
  readonly purgesBegun: number;
  readonly purgesEnded: number;
  /** Number of the last purge of what is shown; nothing where only another shard knows, or it is not open. */
  readonly generation: number | undefined;

  /** True when its operations get their place in the log here: always where there is no other node. */
  readonly isPrimary: boolean;
  /** Replica id of the node that leads it; nothing while a view has not begun here. */
  readonly primary: number | undefined;

  /** Calls back once the partition is open or has failed to open: at once when it has. */
  afterOpen(callback: () => void): void;

  /** Journals a batch behind all that is there. */
  append(op: BatchOp): void;
  /** Reads messages, for `next` behind the consumer's stored offset. */
  poll(request: PollRequest, done: PollDone): void;

  /** Tells a stored offset. Codes: the fault that hides it. */
  readOffset(key: OffsetKey, done: (error: CodedError | undefined, found?: StoredOffset) => void): void;
  /**
   * Stores an offset. Codes: 4100 beyond the readable end, 3024 no room for another consumer, 58 while a
   * purge is under way, the fault that hides what is stored.
   */
  storeOffset(op: StoreOffsetOp): void;
  /**
   * The same only forwards, for polls with auto-commit. What is on its way counts as stored, so that polls of
   * several connections do not overtake each other.
   * @param nothingToMove  called in place of `committed` when the offset is there already: no op is spent
   * then
   */
  storeOffsetForward(op: StoreOffsetOp, nothingToMove: () => void): void;
  /** Forgets an offset. Codes: 3021 nothing is stored, the fault that hides it. */
  deleteOffset(op: OffsetOp): void;

  /** A consumer group's stored offset; nothing also when damage hides it. */
  groupOffset(groupId: number): number | undefined;
  /** Consumer groups with a stored offset; none where damage hides them. */
  storedGroups(): readonly number[];
  /** Forgets a consumer group that is gone. Settles when that is committed or has failed, which is logged. */
  forgetGroup(groupId: number): Promise<void>;

  /** What retention looks at now. @throws CodedError when the partition is gone */
  lookAtRetention(options: { readonly forCleaning: boolean }): Promise<RetentionLook>;
  /**
   * Cuts the oldest sealed segments, see `truncatePartition`. An order by count is passed on to the node that
   * leads the partition, which then tells what went.
   */
  truncate(order: TruncationOrder, outcome: TruncationOutcome): void;
  /** Checks the next stretch of its files. @throws CodedError what the disk answers, why it is not open */
  verify(request: VerifyRequest): Promise<VerifyPartitionReply>;
  /** Leaves damage behind, see `repairDamage` of storage. @throws CodedError why it cannot be repaired */
  repair(settings: PartitionSettings, offsets: RepairedOffsets): Promise<RepairPartitionReply>;

  /**
   * Opens it, once. Settles when it can be used or has failed to open.
   * @param bornInView  given: it has just been made, by an op of this view of the metadata group
   */
  open(settings: PartitionSettings, bornInView?: number): Promise<void>;
  /**
   * Empties it once it is open. Settles with true when that is committed, or comes before all that is written
   * later; with false when nobody on this node can tell.
   */
  purge(generation: number): Promise<boolean>;
  /** Settles in the same way for the last purge that this node has heard of: at once when none is due. */
  purgeHeld(): Promise<boolean>;
  /** Takes it out of use and settles when nothing is in flight; its files go in the background. */
  remove(): Promise<void>;
}
