import type { Lease } from "@millrace/framing";
import { StorageOperation } from "@millrace/storage";
import type { Prepare } from "@millrace/vsr";
import type { ClientConnection } from "../sessions/client-connection.ts";

const NO_BODY = new Uint8Array(0);

/** Session of a prepare whose request number is its client's own; 0 otherwise. See `isNumbered`. */
export const NUMBERED_SESSION = 1;

/**
 * One operation on its way through a partition's group.
 *
 * A batch comes as a lease of verified, unstamped bytes inside the kernel's memory; the group releases it
 * once, in every outcome. Small operations come with their body as storage wants it. Exactly one of
 * `committed` and `failed` is called.
 */
export interface PartitionOp {
  readonly operation: number;
  readonly client: bigint;
  readonly request: bigint;
  readonly user: number;
  readonly batchLease?: Lease;
  /** A function is asked when the op gets its place in the log: every op before it is accepted then. */
  readonly body?: Uint8Array | (() => Uint8Array);
  /**
   * The client's number stands for this operation alone: when it comes again it is not executed again. Absent
   * for what the server does on its own, unless the metadata group has decided on it, and for clients that do
   * not count.
   */
  readonly isNumbered?: boolean;
  /** Op of the Register under which a client has sent it; absent for what is no client's batch. */
  readonly session?: number;
  /** True once nobody waits for its outcome any more, see `hasLeft`. */
  readonly isLeft?: boolean;
  /** Another node has passed it on to this one. */
  readonly isPassedOn?: boolean;
  /** The connection that is held back when the queue is full; operations of the server itself have none. */
  readonly holder?: ClientConnection;
  committed(result: OpResult): void;
  failed(code: number): void;
}

/** A purge: everything written before it goes, and the partition is in this generation. */
export interface PurgeOp extends PartitionOp {
  readonly generation: number;
}

/** How an operation that was committed, now or before, is answered. */
export interface OpResult {
  readonly op: number;
  readonly view: number;
  /** Offset of a batch's first message; for small operations the next offset, or 0. */
  readonly baseOffset: number;
  readonly timestamp: number;
  /** It had been sent before and was not executed again. */
  readonly isRepeated: boolean;
}

/** What is known without its key of a batch in the form in which an encrypted directory holds it. */
export interface SealedBatch {
  /** Bytes of the batch as it was sent. */
  readonly sentLength: number;
  readonly count: number;
}

/** An operation with what the group notes about it. */
export interface QueuedOp {
  readonly op: PartitionOp;
  /** True while its connection is held for it. */
  isHolding: boolean;
  baseOffset: number;
  /** The op's time; 0 until it is prepared. */
  timestamp: number;
  /** The same request again, sent while this one is under way: answered with it. */
  repetitions: PartitionOp[] | undefined;
  /**
   * The stored form of a batch that was encrypted here, as long as the batch itself is held: other replicas
   * get it too.
   */
  storedLease: Lease | undefined;
  /** Given: the op's own batch is in its stored form, encrypted by whoever numbered it. */
  sealed: SealedBatch | undefined;
  /** Body of a small operation, once it has its place in the log. */
  body: Uint8Array;
  /** Its place in the log, once it is journaled or on the way there; 0 before. */
  opNumber: number;
  /** What the group agreed on, once it has its place. */
  bodyChecksum: bigint;
  /**
   * `committed` or `failed` was called; nobody asked for what came from another replica or from the journal.
   */
  isAnswered: boolean;
  /** `Repetitions` know it by its number. */
  isNoted: boolean;
  /** The batch's memory was let go: what it holds is in the journal. */
  isReleased: boolean;
}

function nobodyAsked(): void {}

/**
 * An operation that another replica numbered, or that was found in the journal: nobody waits for it.
 * @param contents.sealed  given for the batch of an encrypted directory
 */
export function replicatedOp(
  prepare: Pick<Prepare, "operation" | "client" | "request" | "user" | "session">,
  contents: {
    readonly batchLease: Lease | undefined;
    readonly body: Uint8Array;
    readonly sealed?: SealedBatch | undefined;
  },
): QueuedOp {
  const { operation, client, request, user, session } = prepare;
  const { batchLease, body } = contents;
  const answers = { committed: nobodyAsked, failed: nobodyAsked };
  const isNumbered = session === NUMBERED_SESSION;
  const facts = { operation, client, request, user, isNumbered, body, ...answers };
  const queued = queuedOp(batchLease === undefined ? facts : { ...facts, batchLease });
  queued.body = body;
  queued.sealed = contents.sealed;
  queued.isAnswered = true;
  return queued;
}

/** An operation as it comes in. */
export function queuedOp(op: PartitionOp): QueuedOp {
  return {
    op,
    isHolding: false,
    baseOffset: 0,
    timestamp: 0,
    repetitions: undefined,
    storedLease: undefined,
    sealed: undefined,
    body: NO_BODY,
    opNumber: 0,
    bodyChecksum: 0n,
    isAnswered: false,
    isNoted: false,
    isReleased: false,
  };
}

/** The batch as it is stored and as other replicas get it; nothing for other operations. */
export function storedBatchOf({ op, storedLease }: QueuedOp): Lease | undefined {
  return storedLease ?? op.batchLease;
}

/** The body of a small operation, made now if it is made late; empty for a batch. */
export function bodyOf({ body }: PartitionOp): Uint8Array {
  return (typeof body === "function" ? body() : body) ?? NO_BODY;
}

/** True for what frees space. */
export function isRemoval({ operation }: PartitionOp): boolean {
  return operation === StorageOperation.truncate || operation === StorageOperation.purge;
}
