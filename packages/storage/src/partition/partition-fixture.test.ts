import assert from "node:assert/strict";
import type { CodedError } from "@millrace/errors";
import {
  BlockPool,
  batchLengthOf,
  createChecksumKernel,
  FrameCursor,
  type OutgoingMessage,
  writeBatch,
} from "@millrace/framing";
import { type Cipher, type Log, silentLog } from "@millrace/platform";
import { SimDisk } from "@millrace/platform/sim";
import { BatchCipher } from "../encryption/batch-cipher.ts";
import type { OpHeader } from "../op-record/op-header.ts";
import { StorageOperation } from "../op-record/op-header.ts";
import { TailCache } from "../tail-cache/tail-cache.ts";
import { openPartition } from "./open-partition.ts";
import type { Partition } from "./partition.ts";
import type { PartitionOptions } from "./partition-options.ts";
import type { ReadRequest } from "./partition-reader.ts";
import type { ReadResult } from "./read-job.ts";

export const PATH = "streams/1/topics/2/partitions/3-9";
export const IDENTITY = { streamId: 1, topicId: 2, partitionId: 3, revision: 9 };

export const kernel = createChecksumKernel({ memoryLength: 4_194_304 });

/** A message as a reader sees it. */
export interface Seen {
  readonly offset: number;
  readonly text: string;
}

export interface Line {
  readonly level: string;
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>> | undefined;
}

/** A log that keeps its lines. */
function recordingLog(lines: Line[]): Log {
  const at = (level: string) => (message: string, facts?: Readonly<Record<string, unknown>>) =>
    void lines.push({ level, message, facts });
  return {
    ...silentLog,
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: () => recordingLog(lines),
  };
}

function payloadText(payload: Uint8Array): string {
  return new TextDecoder().decode(payload);
}

function decodeParts(parts: readonly Uint8Array[]): Seen[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  const seen: Seen[] = [];
  for (let position = 0; position < length; ) {
    const cursor = new FrameCursor(bytes, position);
    verifyOutside(bytes, position, cursor.header.batchLength);
    while (cursor.next()) {
      seen.push({ offset: cursor.header.baseOffset + cursor.offsetDelta, text: payloadText(cursor.payload) });
    }
    position += cursor.header.batchLength;
  }
  return seen;
}

const checkKernel = createChecksumKernel({ memoryLength: 4_194_304 });

function verifyOutside(bytes: Uint8Array, position: number, length: number): void {
  const at = checkKernel.memory.blocksStart;
  checkKernel.memory.bytes.set(bytes.subarray(position, position + length), at);
  assert.equal(checkKernel.verifyBatch(at, length), undefined, "what is served verifies");
}

/** What a test may choose; `cipher` makes the partition an encrypted one. */
export type BenchOptions = Partial<PartitionOptions> & {
  disk?: SimDisk;
  tailLengthMax?: number;
  cipher?: Cipher;
};

/** A partition on a simulated disk with helpers that speak in texts. */
export class Bench {
  disk: SimDisk;
  /** Benches whose partitions are open at once share one. */
  readonly pool: BlockPool;
  readonly lines: Line[] = [];
  readonly options: Partial<PartitionOptions>;
  readonly tailLengthMax: number;
  readonly batchCipher: BatchCipher | undefined;
  /** Whether the requests of what is appended are remembered. */
  isNumbered = false;
  /** Whether what is appended was encrypted by another replica; only with a cipher. */
  isSealed = false;
  /** Ops above this one are journaled and not committed. */
  commitMax = Number.POSITIVE_INFINITY;
  partition!: Partition;
  timestamp = 1000;

  constructor(options: BenchOptions = {}) {
    // Two pools over the same memory would give the same blocks away.
    const pool = options.pool ?? new BlockPool(kernel.memory, { blockLength: 65_536, checked: true });
    this.pool = pool;
    this.batchCipher = options.cipher && new BatchCipher({ cipher: options.cipher, kernel, pool });
    this.disk = options.disk ?? new SimDisk({ seed: 3 });
    this.tailLengthMax = options.tailLengthMax ?? 1_048_576;
    this.options = options;
  }

  static async open(options: BenchOptions = {}): Promise<Bench> {
    const bench = new Bench(options);
    await bench.open();
    return bench;
  }

  /** Opens on the current disk and commits as one node does. */
  async open(overrides: Partial<PartitionOptions> = {}): Promise<Partition> {
    await this.openUncommitted(overrides);
    this.partition.commit(this.partition.lastOp);
    return this.partition;
  }

  /** Opens on the current disk as a replica does, which learns from others what is committed. */
  async openUncommitted(overrides: Partial<PartitionOptions> = {}): Promise<Partition> {
    this.partition = await openPartition({
      path: PATH,
      identity: IDENTITY,
      kernel,
      pool: this.pool,
      tailCache: new TailCache({ lengthMax: this.tailLengthMax }),
      log: recordingLog(this.lines),
      role: "exclusive",
      segmentLengthMax: 1_000_000_000,
      durability: "replicated",
      offsetDurability: "replicated",
      validateChecksums: true,
      consumerOffsetsMax: 100,
      batchCipher: this.batchCipher,
      ...this.options,
      disk: this.disk,
      ...overrides,
    });
    return this.partition;
  }

  async reopen(overrides: Partial<PartitionOptions> = {}): Promise<Partition> {
    await this.close();
    return this.open(overrides);
  }

  /** Ends the process without closing, then opens. */
  async kill(): Promise<Partition> {
    this.disk = this.disk.kill();
    await this.abandon();
    return this.open();
  }

  /** Lets the memory of a partition whose disk is gone go. */
  async abandon(): Promise<void> {
    await this.partition.close().catch(() => undefined);
    this.batchCipher?.close();
    assert.equal(this.pool.leasesOut, 0, "even a dead partition lets its memory go");
  }

  async close(): Promise<void> {
    await this.partition.close();
    this.batchCipher?.close();
    assert.equal(this.pool.leasesOut, 0, "every test ends with zero leases");
  }

  header(operation: number): OpHeader {
    const op = this.partition.lastOp + 1;
    this.timestamp = Math.max(this.timestamp + 1, this.partition.lastTimestamp + 1);
    return {
      op,
      view: 1,
      parent: this.partition.lastOpChecksum,
      checksum: BigInt(op) * 1_000_003n + BigInt(this.timestamp),
      operation,
      client: (7n << 64n) | 5n,
      request: BigInt(op),
      user: 1,
      timestamp: this.timestamp,
    };
  }

  /**
   * Appends one batch of texts; answers its base offset or rejects with the error. Commits.
   * @param hole  offsets left out before it
   */
  append(texts: readonly string[], hole = 0): Promise<number> {
    const header = this.header(StorageOperation.batch);
    const messages: OutgoingMessage[] = texts.map((text) => ({ payload: new TextEncoder().encode(text) }));
    const length = batchLengthOf(messages);
    const block = this.pool.allocate(length);
    assert.ok(block, "the pool has a block");
    writeBatch(block.bytes, 0, messages, header.timestamp);
    kernel.sealBatch(block.position, length);
    const { partition } = this;
    const { identity = IDENTITY } = this.options;
    const baseOffset = partition.nextOffset + hole;
    kernel.stampBatch(block.position, identity.partitionId, baseOffset, header.timestamp);
    const lease = block.part(0, length);
    block.release();
    const storedLease = this.batchCipher?.seal(identity, lease);
    const appended = new Promise<number>((resolve, reject) => {
      const done = (error?: CodedError) => {
        if (error !== undefined) return reject(error);
        partition.commit(Math.min(header.op, this.commitMax));
        resolve(baseOffset);
      };
      const { isNumbered, isSealed } = this;
      const clearLease = isSealed ? undefined : storedLease && lease;
      partition.appendBatch(header, storedLease ?? lease, done, { clearLease, isSealed, isNumbered });
    });
    storedLease?.release();
    lease.release();
    return appended;
  }

  operate(operation: number, body: readonly number[] | Uint8Array): Promise<void> {
    const { partition } = this;
    const header = this.header(operation);
    return new Promise((resolve, reject) => {
      const done = (error?: CodedError) => {
        if (error !== undefined) return reject(error);
        partition.commit(Math.min(header.op, this.commitMax));
        resolve();
      };
      partition.appendOperation(
        header,
        Uint8Array.from(body),
        done,
        this.isNumbered && operation !== StorageOperation.purge,
      );
    });
  }

  storeOffset(kind: 1 | 2, id: number, offset: number): Promise<void> {
    const body = new Uint8Array(13);
    const view = new DataView(body.buffer);
    view.setUint8(0, kind);
    view.setUint32(1, id, true);
    view.setBigUint64(5, BigInt(offset), true);
    return this.operate(StorageOperation.storeOffset, body);
  }

  deleteOffset(kind: 1 | 2, id: number): Promise<void> {
    const body = new Uint8Array(5);
    new DataView(body.buffer).setUint8(0, kind);
    new DataView(body.buffer).setUint32(1, id, true);
    return this.operate(StorageOperation.deleteOffset, body);
  }

  truncate(upToOffset: number): Promise<void> {
    return this.operate(StorageOperation.truncate, u64(upToOffset));
  }

  purge(): Promise<void> {
    return this.operate(StorageOperation.purge, u64(this.partition.purgeGeneration + 1));
  }

  readRaw(request: ReadRequest): Promise<ReadResult> {
    return new Promise((resolve, reject) => {
      this.partition.read(request, (error: CodedError | undefined, result) =>
        error !== undefined ? reject(error) : resolve(result as ReadResult),
      );
    });
  }

  async read(offset: number, count = 1_000_000, lengthMax = 1_000_000): Promise<Seen[]> {
    return this.#seen(await this.readRaw({ from: { offset }, count, lengthMax }));
  }

  async readFromTime(timestamp: number, count = 1_000_000): Promise<Seen[]> {
    return this.#seen(await this.readRaw({ from: { timestamp }, count, lengthMax: 1_000_000 }));
  }

  /** Everything, in several reads. */
  async readAll(from = 0): Promise<Seen[]> {
    const all: Seen[] = [];
    for (let next = from; ; ) {
      const some = await this.read(next);
      const last = some[some.length - 1];
      if (last === undefined) return all;
      all.push(...some);
      next = last.offset + 1;
    }
  }

  async fileNames(): Promise<string[]> {
    return (await this.disk.readDirectory(PATH)).map((entry) => entry.name);
  }

  async fileBytes(name: string): Promise<Uint8Array> {
    return (await this.disk.readWhole(`${PATH}/${name}`, 100_000_000)) ?? new Uint8Array();
  }

  async setFile(name: string, bytes: Uint8Array): Promise<void> {
    await this.disk.writeWhole(`${PATH}/${name}`, bytes);
  }

  #seen(result: ReadResult): Seen[] {
    const seen = decodeParts(result.parts);
    assert.equal(seen.length, result.count);
    assert.equal(
      result.length,
      result.parts.reduce((sum, part) => sum + part.length, 0),
    );
    if (result.count > 0) {
      assert.equal(result.firstOffset, seen[0]?.offset);
      assert.equal(result.lastOffset, seen[seen.length - 1]?.offset);
    }
    result.release();
    return seen;
  }
}

export function u64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
  return bytes;
}

export function name(firstOffset: number, kind: string, generation = 0): string {
  return `${String(firstOffset).padStart(20, "0")}${generation === 0 ? "" : `.g${generation}`}.${kind}`;
}
