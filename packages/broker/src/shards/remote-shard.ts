import { assert, CodedError } from "@millrace/errors";
import { ByteReader, ByteWriter, type Lease } from "@millrace/framing";
import type { ShardBus } from "@millrace/platform";
import { ShardReply, ShardRequest, type ShardRequestKind } from "./shard-request.ts";

/** Takes the answer to a request: what is behind the code, good for the call. */
export type Answered = (error: CodedError | undefined, reader: ByteReader) => void;

/** Kind, call and partition, and room for an append's client and batch. */
const REQUEST_CAPACITY = 64;

/**
 * Another shard as shard 0 sees it: requests and their answers, and the batches it still holds.
 *
 * Calls are numbered; their order on the way is that of asking.
 */
export class RemoteShard {
  readonly shard: number;
  /** Bytes of the memory that all shards share. */
  readonly memory: Uint8Array;
  readonly #bus: ShardBus;
  readonly #calls = new Map<number, Answered>();
  readonly #batches = new Map<number, Lease>();
  #lastCall = 0;

  constructor(bus: ShardBus, shard: number, memory: Uint8Array) {
    this.#bus = bus;
    this.shard = shard;
    this.memory = memory;
  }

  /** Batches that it has not let go of. */
  get batchesHeld(): number {
    return this.#batches.size;
  }

  /**
   * Sends a request and calls back with its answer.
   * @param write  adds what the kind says
   * @returns the number of the call
   */
  ask(
    kind: ShardRequestKind,
    partition: number,
    write: ((writer: ByteWriter) => void) | undefined,
    answered: Answered,
  ): number {
    this.#lastCall += 1;
    const call = this.#lastCall;
    this.#calls.set(call, answered);
    const writer = new ByteWriter(REQUEST_CAPACITY).u8(kind).u64(call).u32(partition);
    write?.(writer);
    this.#bus.send(this.shard, writer.finish());
    return call;
  }

  /** As `ask`, for those who wait for it; `read` is called with the answer. */
  request<T>(
    kind: ShardRequestKind,
    partition: number,
    write: ((writer: ByteWriter) => void) | undefined,
    read: (reader: ByteReader) => T,
  ): Promise<T> {
    return new Promise((resolve, reject) =>
      this.ask(kind, partition, write, (error, reader) => {
        if (error === undefined) resolve(read(reader));
        else reject(error);
      }),
    );
  }

  /** Holds a batch for a call's sake until the other shard is done with it. */
  hold(call: number, batchLease: Lease): void {
    this.#batches.set(call, batchLease);
  }

  /** The other shard is done with the batch of a call. */
  letGo(call: number): void {
    const batchLease = this.#batches.get(call);
    assert(batchLease !== undefined, "a batch is let go of once");
    this.#batches.delete(call);
    batchLease.release();
  }

  /** Tells that what a poll has read was written. */
  releasePoll(call: number): void {
    this.#bus.send(this.shard, new ByteWriter(16).u8(ShardRequest.releasePoll).u64(call).u32(0).finish());
  }

  /** Takes one message of the other shard's. */
  receive(message: Uint8Array): void {
    const reader = new ByteReader(message);
    const kind = reader.u8();
    const call = reader.u64Number();
    if (kind === ShardReply.releaseBatch) {
      this.letGo(call);
      return;
    }
    const answered = this.#calls.get(call);
    assert(kind === ShardReply.answer && answered !== undefined, "a shard answers each call once");
    this.#calls.delete(call);
    const code = reader.u32();
    answered(code === 0 ? undefined : new CodedError(code, reader.str32()), reader);
  }
}
