import {
  BATCH_AT,
  BATCH_HEADER_LENGTH,
  type BlockPool,
  type ChecksumKernel,
  FRAME_AT,
  FRAME_HEADER_LENGTH,
  type Lease,
} from "@millrace/framing";
import { type Cipher, SEAL_LENGTH } from "@millrace/platform";
import type { PartitionIdentity } from "../op-record/checkpoint.ts";
import { setU64 } from "../op-record/u64-field.ts";
import { SMALL_BATCH_LENGTH_MAX } from "../tail-cache/tail-cache.ts";
import { BatchSplitter, joinBatch } from "./batch-content.ts";
import { SharedBlock } from "./shared-block.ts";

/** First byte of the first frame, and of its payload, from the start of a batch. */
const FIRST_FRAME = BATCH_HEADER_LENGTH;
const FIRST_PAYLOAD = FIRST_FRAME + FRAME_HEADER_LENGTH;

/** What a batch cipher works with; `kernel` owns the memory that `pool` cuts up. */
export interface BatchCipherOptions {
  readonly cipher: Cipher;
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
}

/**
 * Gives batches the form in which an encrypted data directory holds them, and back.
 *
 * The stored form is a batch like any other: same header, same frames in the same order, checksums over what
 * is stored. Payloads and user headers are encrypted, all of a batch as one text; the text's seal of 40 bytes
 * stands in front of the first payload and counts as part of it. A stored batch opens only in the partition,
 * at the offset and with the message headers it was sealed with.
 */
export class BatchCipher {
  readonly #options: BatchCipherOptions;
  readonly #small = new SharedBlock();
  readonly #splitter = new BatchSplitter();

  constructor(options: BatchCipherOptions) {
    this.#options = options;
  }

  /**
   * The stored form of a stamped batch, as a lease of its own; the batch stays as it is. Nothing when the
   * pool has no room for it.
   */
  seal(identity: PartitionIdentity, batchLease: Lease): Lease | undefined {
    const { cipher, kernel } = this.#options;
    const from = { position: batchLease.position, room: 0 };
    const length = batchLease.length + SEAL_LENGTH;
    const storedLease = this.#allocate(length);
    if (storedLease === undefined) return undefined;
    const { position } = storedLease;
    const { text, facts } = this.#splitter.split(kernel.memory, identity, from, batchLease.length);
    const seal = new Uint8Array(SEAL_LENGTH);
    joinBatch(kernel.memory, from, cipher.seal(text, facts, seal), { position, room: SEAL_LENGTH });
    kernel.memory.bytes.set(seal, position + FIRST_PAYLOAD);
    this.#setLengths(position, length, SEAL_LENGTH);
    kernel.sealBatch(position, length);
    return storedLease;
  }

  /**
   * Opens a stored batch whose checksums were verified, and writes it as it was sent and stamped to `target`,
   * which is its position or lies before it. The stored bytes are spoilt then.
   *
   * @returns length of the opened batch; nothing when it was not sealed for this place with this key
   */
  open(
    identity: PartitionIdentity,
    stored: { position: number; length: number },
    target: number,
  ): number | undefined {
    const { cipher, kernel } = this.#options;
    const { bytes, view } = kernel.memory;
    const { position } = stored;
    if (view.getUint32(position + FIRST_FRAME + FRAME_AT.payloadLength, true) < SEAL_LENGTH) return undefined;
    const length = stored.length - SEAL_LENGTH;
    this.#setLengths(position, length, -SEAL_LENGTH);
    const from = { position, room: SEAL_LENGTH };
    const { text, facts } = this.#splitter.split(kernel.memory, identity, from, length);
    const seal = bytes.subarray(position + FIRST_PAYLOAD, position + FIRST_PAYLOAD + SEAL_LENGTH);
    const opened = cipher.open(text, facts, seal);
    if (opened === undefined) return undefined;
    joinBatch(kernel.memory, from, opened, { position: target, room: 0 });
    kernel.sealBatch(target, length);
    return length;
  }

  /** Gives back the memory at hand for small batches. */
  close(): void {
    this.#small.release();
  }

  #allocate(length: number): Lease | undefined {
    const { pool } = this.#options;
    if (length < SMALL_BATCH_LENGTH_MAX) return this.#small.take(pool, length);
    const blockLease = pool.allocate(length);
    const lease = blockLease?.part(0, length);
    blockLease?.release();
    return lease;
  }

  /** Sets the batch's length and adds `added` to that of the first payload. */
  #setLengths(position: number, batchLength: number, added: number): void {
    const { view } = this.#options.kernel.memory;
    const payloadAt = position + FIRST_FRAME + FRAME_AT.payloadLength;
    setU64(view, position + BATCH_AT.batchLength, batchLength);
    view.setUint32(payloadAt, view.getUint32(payloadAt, true) + added, true);
  }
}
