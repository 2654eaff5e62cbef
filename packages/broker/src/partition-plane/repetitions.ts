import { batchChecksumAt, type ChecksumKernel, type Lease, messageCountAt } from "@millrace/framing";
import { bodyChecksum, type Partition, type RememberedRequest, StorageOperation } from "@millrace/storage";
import { OvertakenSessions } from "./overtaken-sessions.ts";
import type { SeenRequest } from "./partition-handle.ts";
import { bodyOf, type PartitionOp, type QueuedOp, type SealedBatch } from "./partition-op.ts";

/** A user is a u32, a client id a u128. */
const USER_BITS = 32n;

/** What one client has under way, by number. */
interface ClientUnderWay {
  readonly client: bigint;
  readonly user: number;
  readonly byNumber: Map<bigint, QueuedOp>;
}

/**
 * Knows in one partition a request that comes again: while the first one is under way, and once it is
 * committed.
 *
 * Only numbered operations count (see `PartitionOp.isNumbered`), and only when client, user, number,
 * operation and content are the same: whoever sends something else under a number he has used is served as if
 * he had not.
 * @see docs/adr/0027; wire-protocol section 5.5
 */
export class Repetitions {
  readonly #kernel: ChecksumKernel;
  readonly #partitionId: number;
  readonly #partition: () => Partition | undefined;
  /** Clients with something under way, by client and user. */
  readonly #underWay = new Map<bigint, ClientUnderWay>();
  /** Whose operation was looked for last: the next one is most often his too. */
  #latest: ClientUnderWay | undefined;
  /** Whose sends come too late. */
  readonly overtaken = new OvertakenSessions();

  /** @param partition  the stored partition, while there is one */
  constructor(kernel: ChecksumKernel, partitionId: number, partition: () => Partition | undefined) {
    this.#partition = partition;
    this.#kernel = kernel;
    this.#partitionId = partitionId;
  }

  /** True when a request of this client and number is under way, whatever it holds. */
  isUnderWay(request: Pick<PartitionOp, "client" | "user" | "request">): boolean {
    return this.#find(request) !== undefined;
  }

  /** True when a request of this client and number is committed and remembered. */
  hasCommitted({ client, user, request }: Pick<PartitionOp, "client" | "user" | "request">): boolean {
    const partition = this.#partition();
    // What a partition that is ahead remembers may never have been.
    return partition?.isAhead === false && partition.rememberedRequest(client, user, request) !== undefined;
  }

  /**
   * True when a request of this client and number is under way here or committed, for a client that comes
   * back and sends it elsewhere when nobody has seen it: then what an earlier session of it has sent is not
   * taken any more.
   */
  lookFor(request: SeenRequest): boolean {
    const isSeen = this.isUnderWay(request) || this.hasCommitted(request);
    if (!isSeen) this.overtaken.asks(request);
    return isSeen;
  }

  /**
   * The committed request that an operation repeats: then it does nothing again. May stamp the operation's
   * batch to compare it.
   */
  committed(op: PartitionOp): RememberedRequest | undefined {
    const partition = this.#partition();
    // What a partition that is ahead remembers may never have been.
    if (op.isNumbered !== true || partition === undefined || partition.isAhead) return undefined;
    const original = partition.rememberedRequest(op.client, op.user, op.request);
    return original !== undefined && this.#repeats(op, original) ? original : undefined;
  }

  /**
   * Lets an operation share the outcome of the one under way that it repeats, else notes that it is on its
   * way itself; true when it shares.
   */
  joins(queued: QueuedOp): boolean {
    const { op } = queued;
    const { byNumber } = this.#clientOf(op) ?? this.#add(op);
    const first = byNumber.get(op.request);
    if (first === undefined) {
      byNumber.set(op.request, queued);
      queued.isNoted = true;
      return false;
    }
    if (!this.#repeatsQueued(op, first)) return false;
    first.repetitions ??= [];
    first.repetitions.push(op);
    return true;
  }

  /** Notes an operation that has a place in the log, in place of one of that number that waits for one. */
  begin(queued: QueuedOp): void {
    const { byNumber } = this.#clientOf(queued.op) ?? this.#add(queued.op);
    const before = byNumber.get(queued.op.request);
    if (before !== undefined && (before.opNumber > 0 || queued.opNumber === 0)) return;
    if (before !== undefined) before.isNoted = false;
    byNumber.set(queued.op.request, queued);
    queued.isNoted = true;
  }

  /** Forgets an operation that came to its end. */
  end(queued: QueuedOp): void {
    if (!queued.isNoted) return;
    queued.isNoted = false;
    const of = this.#clientOf(queued.op);
    of?.byNumber.delete(queued.op.request);
  }

  #find(request: Pick<PartitionOp, "client" | "user" | "request">): QueuedOp | undefined {
    return this.#clientOf(request)?.byNumber.get(request.request);
  }

  #clientOf(of: Pick<PartitionOp, "client" | "user">): ClientUnderWay | undefined {
    const latest = this.#latest;
    if (latest?.client === of.client && latest.user === of.user) return latest;
    const found = this.#underWay.get(keyOf(of));
    if (found !== undefined) this.#lookedFor(found);
    return found;
  }

  /** Who has nothing under way is forgotten once another is looked for: he most often sends the next. */
  #lookedFor(client: ClientUnderWay): void {
    const before = this.#latest;
    this.#latest = client;
    if (before?.byNumber.size === 0) this.#underWay.delete(keyOf(before));
  }

  #add({ client, user }: Pick<PartitionOp, "client" | "user">): ClientUnderWay {
    const added = { client, user, byNumber: new Map<bigint, QueuedOp>() };
    this.#underWay.set(keyOf(added), added);
    this.#lookedFor(added);
    return added;
  }

  #repeats(op: PartitionOp, original: RememberedRequest): boolean {
    if (op.operation !== original.operation) return false;
    if (isSettledElsewhere(op)) return true;
    const { batchLease } = op;
    if (batchLease === undefined) return bodyChecksum(bodyOf(op)) === original.checksum;
    const { length: sentLength, count } = original;
    if (!this.#seems(batchLease, { sentLength, count })) return false;
    return original.checksum === undefined || this.#stamped(batchLease, original) === original.checksum;
  }

  #repeatsQueued(op: PartitionOp, first: QueuedOp): boolean {
    if (op.operation !== first.op.operation) return false;
    if (isSettledElsewhere(op)) return true;
    const [again, original] = [op.batchLease, first.op.batchLease];
    if (again === undefined) return bodyChecksum(bodyOf(op)) === bodyChecksum(bodyOf(first.op));
    if (first.sealed !== undefined) return this.#seems(again, first.sealed);
    // Its batch is in the journal alone.
    if (original === undefined) return this.#stamped(again, first) === first.bodyChecksum;
    if (again.length !== original.length) return false;
    const { view } = this.#kernel.memory;
    const checksum = batchChecksumAt(view, original.position);
    const isStamped = first.timestamp > 0;
    return checksum === (isStamped ? this.#stamped(again, first) : batchChecksumAt(view, again.position));
  }

  /** True when nothing that is known without its contents tells a batch from another one. */
  #seems({ length, position }: Lease, { sentLength, count }: SealedBatch): boolean {
    return length === sentLength && messageCountAt(this.#kernel.memory.view, position) === count;
  }

  /** Checksum of a batch with the place and time of another: the same only if they hold the same. */
  #stamped(batchLease: Lease, place: { readonly baseOffset: number; readonly timestamp: number }): bigint {
    const { position } = batchLease;
    this.#kernel.stampBatch(position, this.#partitionId, place.baseOffset, place.timestamp);
    return batchChecksumAt(this.#kernel.memory.view, position);
  }
}

/**
 * A truncation stands under the op by which the metadata group has decided on it, which names one request;
 * from which offset on the partition is left is found anew by each try.
 */
function isSettledElsewhere({ operation }: Pick<PartitionOp, "operation">): boolean {
  return operation === StorageOperation.truncate;
}

function keyOf({ client, user }: Pick<PartitionOp, "client" | "user">): bigint {
  return (client << USER_BITS) | BigInt(user);
}
