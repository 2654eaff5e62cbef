import { assert, CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { ByteReader, ByteWriter } from "@millrace/framing";
import type { ShardBus } from "@millrace/platform";
import type { PartitionIdentity, ReadResult } from "@millrace/storage";
import { LocalPartition } from "../partition-plane/local-partition.ts";
import { findSeenAmong } from "../partition-plane/operations/find-seen.ts";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import { PartitionHost, type PartitionHostOptions } from "../partition-plane/partition-host.ts";
import { PARTITION_REQUESTS } from "./partition-requests.ts";
import { readClient, readIdentity, readSettings, writeContents, writeFacts } from "./shard-codec.ts";
import { ShardReply, ShardRequest } from "./shard-request.ts";

/** Kind, call and code, and room for a confirmation. */
const REPLY_CAPACITY = 64;
/** Shard 0 speaks for all clients. */
const FRONT = 0;

/**
 * Serves partitions from now on: those that shard 0 gives to this shard by the bus, until it asks to stop.
 */
export function servePartitions(options: PartitionHostOptions, bus: ShardBus): PartitionShard {
  return new PartitionShard(options, bus);
}

/**
 * A shard that owns partitions and knows no clients: it does what shard 0 asks. Made before the first request
 * comes; it ends with the request to stop.
 */
export class PartitionShard {
  readonly #options: PartitionHostOptions;
  readonly #bus: ShardBus;
  readonly #host: PartitionHost;
  readonly #partitions = new Map<number, LocalPartition>();
  /** Partitions whose contents may differ from what shard 0 knows. */
  readonly #changed = new Set<PartitionGroup>();
  /** What polls have read and shard 0 has not written yet. */
  readonly #reads = new Map<number, ReadResult>();
  /** Requests answered with 58 since shard 0 was told. */
  #deniedCount = 0;

  constructor(options: PartitionHostOptions, bus: ShardBus) {
    this.#options = options;
    this.#bus = bus;
    const deniedTransient = {
      add: (count: number) => {
        this.#deniedCount += count;
      },
    };
    this.#host = new PartitionHost(options, {
      deniedTransient,
      onApplied: (group) => this.#changed.add(group),
    });
    bus.onMessage = (_from, message) => this.#receive(new ByteReader(message));
  }

  /** Bytes of the memory that all shards share. */
  get memory() {
    return this.#options.kernel.memory;
  }

  /** The group of a partition that this shard owns, for a look inside it. */
  groupOf({ streamId, topicId, partitionId }: PartitionIdentity): PartitionGroup | undefined {
    for (const { group } of this.#partitions.values()) {
      const { identity } = group;
      const isSame = identity.streamId === streamId && identity.topicId === topicId;
      if (isSame && identity.partitionId === partitionId) return group;
    }
    return undefined;
  }

  /** Answers a call. @param write  adds what the request's kind says */
  answer(call: number, write?: (writer: ByteWriter) => void): void {
    const writer = new ByteWriter(REPLY_CAPACITY).u8(ShardReply.answer).u64(call).u32(0);
    write?.(writer);
    this.#bus.send(FRONT, writer.finish());
  }

  /** Answers a call with why it failed. */
  refuse(
    call: number,
    { code, message }: { readonly code: number; readonly message: string },
    held = false,
  ): void {
    const writer = new ByteWriter(REPLY_CAPACITY).u8(ShardReply.answer).u64(call).u32(code).str32(message);
    this.#bus.send(FRONT, writer.u8(held ? 0 : 1).finish());
  }

  /** Tells that the batch of a call, which was answered, is held no longer. */
  releaseBatch(call: number): void {
    this.#bus.send(FRONT, new ByteWriter(16).u8(ShardReply.releaseBatch).u64(call).finish());
  }

  /** Keeps what a poll has read until shard 0 has written it. */
  keepRead(call: number, result: ReadResult): void {
    this.#reads.set(call, result);
  }

  #receive(reader: ByteReader): void {
    const kind = reader.u8();
    const call = reader.u64Number();
    const number = reader.u32();
    const serve = PARTITION_REQUESTS.get(kind);
    if (serve === undefined) {
      this.#receiveOwn(kind, call, number, reader);
      return;
    }
    const partition = this.#partitions.get(number);
    if (partition !== undefined) serve({ shard: this, call, partition, reader });
    else this.refuse(call, new CodedError(ErrorCode.ResourceNotFound, "The partition is gone."));
  }

  /** Requests that are about no partition, or make or end one. */
  #receiveOwn(kind: number, call: number, number: number, reader: ByteReader): void {
    switch (kind) {
      case ShardRequest.open:
        this.#open(call, number, reader);
        return;
      case ShardRequest.remove:
        this.#remove(call, number);
        return;
      case ShardRequest.contents:
        this.#tellContents(call);
        return;
      case ShardRequest.releasePoll:
        this.#reads.get(call)?.release();
        this.#reads.delete(call);
        return;
      case ShardRequest.findSeen:
        this.#findSeen(call, reader);
        return;
      case ShardRequest.giveWay:
        this.#host.giveWay();
        this.answer(call);
        return;
      case ShardRequest.stop:
        void this.#stop(call);
        return;
      default:
        assert(false, `shards of one process know the same requests, not ${kind}`);
    }
  }

  /**
   * Answers which of the partitions named has seen the request: its index, or how many there are; with 58
   * when one of them cannot tell, as one that is gone, or was not heard of yet.
   */
  #findSeen(call: number, reader: ByteReader): void {
    const request = readClient(reader);
    const named = Array.from({ length: reader.u32() }, () => this.#partitions.get(reader.u32()));
    const known = named.filter((partition) => partition !== undefined);
    findSeenAmong(known, request, (seen) => {
      const isUnknown = seen === undefined && known.length < named.length;
      const refusal = isUnknown ? new CodedError(ErrorCode.TransientNotAccepted) : seen;
      if (isCodedError(refusal)) this.refuse(call, refusal);
      else
        this.answer(call, (writer) =>
          writer.u32(refusal === undefined ? named.length : named.indexOf(refusal)),
        );
    });
  }

  #open(call: number, number: number, reader: ByteReader): void {
    const partition = new LocalPartition(readIdentity(reader), this.#host);
    this.#partitions.set(number, partition);
    void partition
      .open(readSettings(reader))
      .then(() => this.answer(call, (writer) => writeFacts(writer, partition)));
  }

  #remove(call: number, number: number): void {
    const partition = this.#partitions.get(number);
    assert(partition !== undefined, "a partition is removed once");
    this.#partitions.delete(number);
    void partition.remove().then(() => this.answer(call, (writer) => writeFacts(writer, partition)));
  }

  #tellContents(call: number): void {
    const changed = [...this.#partitions].filter(([, { group }]) => this.#changed.has(group));
    this.#changed.clear();
    const deniedCount = this.#deniedCount;
    this.#deniedCount = 0;
    this.answer(call, (writer) => {
      writer.u32(deniedCount).u32(changed.length);
      for (const [number, { contents }] of changed) writeContents(writer.u32(number), contents);
    });
  }

  async #stop(call: number): Promise<void> {
    await this.#host.stop();
    this.answer(call);
  }
}
