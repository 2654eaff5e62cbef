import type { CodedError } from "@millrace/errors";
import type { ByteWriter } from "@millrace/framing";
import {
  decodeRepairPartitionReply,
  decodeVerifyPartitionReply,
  type RepairPartitionReply,
  type VerifyPartitionReply,
  writePollingStrategy,
} from "@millrace/protocol";
import type { PartitionIdentity, RepairedOffsets, VerifyRequest } from "@millrace/storage";
import { GROUP_KIND } from "../consumer-groups/group-kind.ts";
import { PolledOffsets } from "../consumer-groups/polled-offsets.ts";
import {
  type BatchOp,
  NO_CONTENTS,
  type OffsetKey,
  type OffsetOp,
  type PartitionContents,
  type PartitionHandle,
  type PollDone,
  type PollRequest,
  type StoredOffset,
  type StoreOffsetOp,
} from "../partition-plane/partition-handle.ts";
import type { PartitionSettings } from "../partition-plane/partition-settings.ts";
import type { RetentionLook, TruncationOrder, TruncationOutcome } from "../retention/truncation.ts";
import { AppendWindow } from "./append-window.ts";
import type { RemoteShard } from "./remote-shard.ts";
import { REPAIRED_OFFSETS } from "./repaired-offsets.ts";
import { readLook, readTruncation, writeOrder } from "./retention-codec.ts";
import {
  type PartitionFacts,
  readCommitted,
  readFacts,
  readReadResult,
  writeClient,
  writeIdentity,
  writeKey,
  writeOffsetOp,
  writeSettings,
} from "./shard-codec.ts";
import { ShardRequest, type ShardRequestKind } from "./shard-request.ts";

/** A partition that another shard owns: everything asked of it goes there, and only descriptors do. */
export class RemotePartition implements PartitionHandle {
  readonly identity: PartitionIdentity;
  readonly polled = new PolledOffsets();
  contents: PartitionContents = NO_CONTENTS;
  /** Shards and clusters do not go together yet, so no other node numbers its operations. */
  readonly isPrimary = true;
  readonly primary = 0;
  purgesBegun = 0;
  purgesEnded = 0;
  readonly generation = undefined;
  readonly #shard: RemoteShard;
  readonly #number: number;
  readonly #appends: AppendWindow;
  readonly #onRemoved: () => void;
  #groupOffsets = new Map<number, number>();
  #isOpen = false;
  #whenOpen: (() => void)[] = [];

  /**
   * @param number      what the owner knows it by
   * @param appendsMax  appends on their way before connections are held
   */
  constructor(
    identity: PartitionIdentity,
    owner: {
      readonly shard: RemoteShard;
      readonly number: number;
      readonly appendsMax: number;
      /** Called when the owner does not know it any more. */
      readonly onRemoved: () => void;
    },
  ) {
    this.identity = identity;
    this.#onRemoved = owner.onRemoved;
    this.#shard = owner.shard;
    this.#number = owner.number;
    this.#appends = new AppendWindow(owner.appendsMax);
  }

  /** What its owner knows it by. */
  get number(): number {
    return this.#number;
  }

  /** The shard that owns it. */
  get owner(): RemoteShard {
    return this.#shard;
  }

  afterOpen(callback: () => void): void {
    if (this.#isOpen) callback();
    else this.#whenOpen.push(callback);
  }

  append(op: BatchOp): void {
    const { position, length } = op.batchLease;
    this.#appends.begin(op.holder);
    const call = this.#shard.ask(
      ShardRequest.append,
      this.#number,
      (writer) => {
        writer.u32(position).u32(length);
        writeClient(writer, op);
      },
      (error, reader) => {
        if (reader.u8() === 1) this.#shard.letGo(call);
        this.#appends.end();
        if (error === undefined) op.committed(readCommitted(reader));
        else op.failed(error.code);
      },
    );
    this.#shard.hold(call, op.batchLease);
  }

  poll(request: PollRequest, done: PollDone): void {
    const { key, strategy, count, lengthMax, needsOffsetRoom } = request;
    const call = this.#shard.ask(
      ShardRequest.poll,
      this.#number,
      (writer) => {
        writeKey(writer, key);
        writePollingStrategy(writer, strategy);
        writer
          .u32(count)
          .u32(lengthMax)
          .u8(needsOffsetRoom ? 1 : 0);
      },
      (error, reader) => {
        if (error !== undefined) {
          done(error, undefined, 0);
          return;
        }
        const currentOffset = reader.u64Number();
        const release = () => this.#shard.releasePoll(call);
        const isEmpty = reader.u8() === 0;
        const result = isEmpty ? undefined : readReadResult(reader, this.#shard.memory, release);
        done(undefined, result, currentOffset);
      },
    );
  }

  readOffset(key: OffsetKey, done: (error: CodedError | undefined, found?: StoredOffset) => void): void {
    this.#shard.ask(
      ShardRequest.readOffset,
      this.#number,
      (writer) => writeKey(writer, key),
      (error, reader) => {
        if (error !== undefined) {
          done(error);
          return;
        }
        const currentOffset = reader.u64Number();
        const stored = reader.u8() === 0 ? undefined : reader.u64Number();
        done(undefined, { stored, currentOffset });
      },
    );
  }

  storeOffset(op: StoreOffsetOp): void {
    this.#store(ShardRequest.storeOffset, op, () => {});
  }

  storeOffsetForward(op: StoreOffsetOp, nothingToMove: () => void): void {
    this.#store(ShardRequest.storeOffsetForward, op, nothingToMove);
  }

  deleteOffset(op: OffsetOp): void {
    this.#shard.ask(
      ShardRequest.deleteOffset,
      this.#number,
      (writer) => writeOffsetOp(writer, op),
      (error, reader) => {
        if (error !== undefined) {
          op.failed(error.code);
          return;
        }
        const result = readCommitted(reader);
        if (op.key.kind === GROUP_KIND && !result.isRepeated) this.#groupOffsets.delete(op.key.id);
        op.committed(result);
      },
    );
  }

  groupOffset(groupId: number): number | undefined {
    return this.#groupOffsets.get(groupId);
  }

  storedGroups(): readonly number[] {
    return [...this.#groupOffsets.keys()];
  }

  forgetGroup(groupId: number): Promise<void> {
    this.polled.forget(groupId);
    return this.#settle(ShardRequest.forgetGroup, (writer) => writer.u32(groupId));
  }

  lookAtRetention({ forCleaning }: { readonly forCleaning: boolean }): Promise<RetentionLook> {
    return this.#shard.request(
      ShardRequest.lookAtRetention,
      this.#number,
      (writer) => writer.u8(forCleaning ? 1 : 0),
      readLook,
    );
  }

  truncate(order: TruncationOrder, outcome: TruncationOutcome): void {
    this.#shard.ask(
      ShardRequest.truncate,
      this.#number,
      (writer) => writeOrder(writer, order),
      (error, reader) => {
        if (error === undefined) outcome.removed(readTruncation(reader));
        else outcome.failed(error.code);
      },
    );
  }

  verify({ from, lengthMax }: VerifyRequest): Promise<VerifyPartitionReply> {
    return this.#shard.request(
      ShardRequest.verify,
      this.#number,
      (writer) => writer.u64(from.segment).u64(from.opsPosition).u64(from.logPosition).u32(lengthMax),
      (reader) => decodeVerifyPartitionReply(reader.bytes32()),
    );
  }

  repair(settings: PartitionSettings, offsets: RepairedOffsets): Promise<RepairPartitionReply> {
    return this.#shard.request(
      ShardRequest.repair,
      this.#number,
      (writer) => {
        writeSettings(writer, settings);
        writer.u8(REPAIRED_OFFSETS.indexOf(offsets));
      },
      (reader) => {
        this.#note(readFacts(reader));
        return decodeRepairPartitionReply(reader.bytes32());
      },
    );
  }

  async open(settings: PartitionSettings): Promise<void> {
    await this.#settle(ShardRequest.open, (writer) => {
      writeIdentity(writer, this.identity);
      writeSettings(writer, settings);
    });
    this.#isOpen = true;
    const waiting = this.#whenOpen;
    this.#whenOpen = [];
    for (const callback of waiting) callback();
  }

  async purge(generation: number): Promise<boolean> {
    this.purgesBegun += 1;
    await this.#settle(
      ShardRequest.purge,
      (writer) => writer.u64(generation),
      () => {
        this.purgesEnded += 1;
      },
    );
    return true;
  }

  /** There is no other node. */
  async purgeHeld(): Promise<boolean> {
    return true;
  }

  async remove(): Promise<void> {
    await this.#settle(ShardRequest.remove, undefined);
    this.#onRemoved();
  }

  /** Waits for the end of what changes the facts; a partition that is gone meanwhile has no new ones. */
  #settle(
    kind: ShardRequestKind,
    write: ((writer: ByteWriter) => void) | undefined,
    ended: () => void = () => {},
  ): Promise<void> {
    return new Promise((resolve) =>
      this.#shard.ask(kind, this.#number, write, (error, reader) => {
        if (error === undefined) this.#note(readFacts(reader));
        ended();
        resolve();
      }),
    );
  }

  #store(kind: 4 | 5, op: StoreOffsetOp, nothingToMove: () => void): void {
    this.#shard.ask(
      kind,
      this.#number,
      (writer) => {
        writeOffsetOp(writer, op);
        writer.u64(op.offset);
      },
      (error, reader) => {
        if (error !== undefined) op.failed(error.code);
        else if (reader.remaining === 0) nothingToMove();
        else {
          const result = readCommitted(reader);
          const isNew = op.key.kind === GROUP_KIND && !result.isRepeated;
          if (isNew) this.#groupOffsets.set(op.key.id, Number(op.offset));
          op.committed(result);
        }
      },
    );
  }

  #note({ contents, groupOffsets }: PartitionFacts): void {
    this.contents = contents;
    this.#groupOffsets = groupOffsets;
  }
}
