import { batchChecksumAt, type ChecksumKernel, type Lease, messageCountAt } from "@millrace/framing";
import { bodyChecksum, type Partition, type RememberedRequest } from "@millrace/storage";
import { bodyOf, type PartitionOp, type QueuedOp } from "./partition-op.ts";

/** A request number is a u64, a user a u32, a client id a u128. */
const NUMBER_BITS = 64n;
const USER_BITS = 32n;

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
  readonly #underWay = new Map<bigint, QueuedOp>();

  /** @param partition  the stored partition, while there is one */
  constructor(kernel: ChecksumKernel, partitionId: number, partition: () => Partition | undefined) {
    this.#partition = partition;
    this.#kernel = kernel;
    this.#partitionId = partitionId;
  }

  /** True when a request of this client and number is under way, whatever it holds. */
  isUnderWay(request: Pick<PartitionOp, "client" | "user" | "request">): boolean {
    return this.#underWay.has(keyOf(request));
  }

  /** True when a request of this client and number is under way here or remembered. */
  hasSeen(request: Pick<PartitionOp, "client" | "user" | "request">): boolean {
    const { client, user, request: number } = request;
    return (
      this.isUnderWay(request) || this.#partition()?.rememberedRequest(client, user, number) !== undefined
    );
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

  /** Lets an operation share the outcome of the one under way that it repeats; false when there is none. */
  join(op: PartitionOp): boolean {
    const first = this.#underWay.get(keyOf(op));
    if (first === undefined || !this.#repeatsQueued(op, first)) return false;
    first.repetitions ??= [];
    first.repetitions.push(op);
    return true;
  }

  /** Notes an operation that is on its way; one with a place in the log in place of one that waits. */
  begin(queued: QueuedOp): void {
    const key = keyOf(queued.op);
    const before = this.#underWay.get(key);
    const isWaiting = before?.opNumber === 0 && queued.opNumber > 0;
    if (before === undefined || isWaiting) this.#underWay.set(key, queued);
  }

  /** Forgets an operation that came to its end. */
  end(queued: QueuedOp): void {
    const key = keyOf(queued.op);
    if (this.#underWay.get(key) === queued) this.#underWay.delete(key);
  }

  #repeats(op: PartitionOp, original: RememberedRequest): boolean {
    if (op.operation !== original.operation) return false;
    const { batchLease } = op;
    if (batchLease === undefined) return bodyChecksum(bodyOf(op)) === original.checksum;
    const { view } = this.#kernel.memory;
    if (batchLease.length !== original.length) return false;
    if (messageCountAt(view, batchLease.position) !== original.count) return false;
    return original.checksum === undefined || this.#stamped(batchLease, original) === original.checksum;
  }

  #repeatsQueued(op: PartitionOp, first: QueuedOp): boolean {
    if (op.operation !== first.op.operation) return false;
    const [again, original] = [op.batchLease, first.op.batchLease];
    if (again === undefined) return bodyChecksum(bodyOf(op)) === bodyChecksum(bodyOf(first.op));
    // Its batch is in the journal alone.
    if (original === undefined) return this.#stamped(again, first) === first.bodyChecksum;
    if (again.length !== original.length) return false;
    const { view } = this.#kernel.memory;
    const checksum = batchChecksumAt(view, original.position);
    const isStamped = first.timestamp > 0;
    return checksum === (isStamped ? this.#stamped(again, first) : batchChecksumAt(view, again.position));
  }

  /** Checksum of a batch with the place and time of another: the same only if they hold the same. */
  #stamped(batchLease: Lease, place: { readonly baseOffset: number; readonly timestamp: number }): bigint {
    const { position } = batchLease;
    this.#kernel.stampBatch(position, this.#partitionId, place.baseOffset, place.timestamp);
    return batchChecksumAt(this.#kernel.memory.view, position);
  }
}

function keyOf({ client, user, request }: Pick<PartitionOp, "client" | "user" | "request">): bigint {
  return (((client << USER_BITS) | BigInt(user)) << NUMBER_BITS) | request;
}
