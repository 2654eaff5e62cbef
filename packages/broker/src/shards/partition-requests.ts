import { assert, CodedError, isCodedError } from "@millrace/errors";
import { type ByteReader, ForeignLease } from "@millrace/framing";
import {
  encodeRepairPartitionReply,
  encodeVerifyPartitionReply,
  Operation,
  readPollingStrategy,
} from "@millrace/protocol";
import type { LocalPartition } from "../partition-plane/local-partition.ts";
import type { ClientOp } from "../partition-plane/partition-handle.ts";
import type { PartitionShard } from "./partition-shard.ts";
import { REPAIRED_OFFSETS } from "./repaired-offsets.ts";
import { readOrder, writeLook, writeTruncation } from "./retention-codec.ts";
import {
  readClient,
  readKey,
  readOffsetOp,
  readSettings,
  writeCommitted,
  writeFacts,
  writeReadResult,
} from "./shard-codec.ts";
import { ShardRequest } from "./shard-request.ts";

/** A request about a partition that this shard owns. `reader` stands behind the head, good for the call. */
interface PartitionRequest {
  readonly shard: PartitionShard;
  readonly call: number;
  readonly partition: LocalPartition;
  readonly reader: ByteReader;
}

type Serve = (request: PartitionRequest) => void;

/** Who serves a request about a partition, by its kind. */
export const PARTITION_REQUESTS: ReadonlyMap<number, Serve> = new Map<number, Serve>([
  [ShardRequest.append, append],
  [ShardRequest.poll, poll],
  [ShardRequest.readOffset, readOffset],
  [ShardRequest.storeOffset, storeOffset],
  [ShardRequest.storeOffsetForward, storeOffsetForward],
  [ShardRequest.deleteOffset, deleteOffset],
  [ShardRequest.forgetGroup, forgetGroup],
  [ShardRequest.lookAtRetention, lookAtRetention],
  [ShardRequest.truncate, truncate],
  [ShardRequest.verify, verify],
  [ShardRequest.repair, repair],
  [ShardRequest.purge, purge],
]);

/** The batch goes back with the answer when it was copied or is written, else when the tail lets go of it. */
function append({ shard, call, partition, reader }: PartitionRequest): void {
  const range = { position: reader.u32(), length: reader.u32() };
  const batchLease = new ForeignLease(shard.memory, range, () => {
    if (isAnswered) shard.releaseBatch(call);
  });
  let isAnswered = false;
  partition.append({
    operation: Operation.SendMessages,
    ...readClient(reader),
    batchLease,
    committed(result) {
      isAnswered = true;
      shard.answer(call, (writer) => writeCommitted(writer.u8(batchLease.isReleased ? 1 : 0), result));
    },
    failed(code) {
      isAnswered = true;
      shard.refuse(call, new CodedError(code), !batchLease.isReleased);
    },
  });
}

function poll({ shard, call, partition, reader }: PartitionRequest): void {
  const request = {
    key: readKey(reader),
    strategy: readPollingStrategy(reader),
    count: reader.u32(),
    lengthMax: reader.u32(),
    needsOffsetRoom: reader.u8() === 1,
  };
  partition.afterOpen(() =>
    partition.poll(request, (error, result, currentOffset) => {
      if (error !== undefined) {
        shard.refuse(call, error);
        return;
      }
      if (result !== undefined) shard.keepRead(call, result);
      shard.answer(call, (writer) => {
        writer.u64(currentOffset).u8(result === undefined ? 0 : 1);
        if (result !== undefined) writeReadResult(writer, result, shard.memory.bytes);
      });
    }),
  );
}

function readOffset({ shard, call, partition, reader }: PartitionRequest): void {
  const key = readKey(reader);
  partition.afterOpen(() =>
    partition.readOffset(key, (error, found) => {
      if (error !== undefined) {
        shard.refuse(call, error);
        return;
      }
      assert(found !== undefined, "an offset is read or not to be had");
      const { stored, currentOffset } = found;
      shard.answer(call, (writer) => {
        writer.u64(currentOffset).u8(stored === undefined ? 0 : 1);
        if (stored !== undefined) writer.u64(stored);
      });
    }),
  );
}

function storeOffset({ shard, call, partition, reader }: PartitionRequest): void {
  const op = { ...readOffsetOp(reader), offset: reader.u64(), ...outcomeOf(shard, call) };
  partition.afterOpen(() => partition.storeOffset(op));
}

function storeOffsetForward({ shard, call, partition, reader }: PartitionRequest): void {
  const op = { ...readOffsetOp(reader), offset: reader.u64(), ...outcomeOf(shard, call) };
  const nothingToMove = () => shard.answer(call);
  partition.afterOpen(() => partition.storeOffsetForward(op, nothingToMove));
}

function deleteOffset({ shard, call, partition, reader }: PartitionRequest): void {
  const op = { ...readOffsetOp(reader), ...outcomeOf(shard, call) };
  partition.afterOpen(() => partition.deleteOffset(op));
}

/** Answers with where the op stands. */
function outcomeOf(shard: PartitionShard, call: number): Pick<ClientOp, "committed" | "failed"> {
  return {
    committed: (result) => shard.answer(call, (writer) => writeCommitted(writer, result)),
    failed: (code) => shard.refuse(call, new CodedError(code)),
  };
}

function forgetGroup({ shard, call, partition, reader }: PartitionRequest): void {
  void partition
    .forgetGroup(reader.u32())
    .then(() => shard.answer(call, (writer) => writeFacts(writer, partition)));
}

function purge({ shard, call, partition, reader }: PartitionRequest): void {
  void partition
    .purge(reader.u64Number())
    .then(() => shard.answer(call, (writer) => writeFacts(writer, partition)));
}

function lookAtRetention({ shard, call, partition, reader }: PartitionRequest): void {
  const forCleaning = reader.u8() === 1;
  refusingErrors(shard, call, async () => {
    const look = await partition.lookAtRetention({ forCleaning });
    shard.answer(call, (writer) => writeLook(writer, look));
  });
}

function truncate({ shard, call, partition, reader }: PartitionRequest): void {
  const order = readOrder(reader);
  partition.afterOpen(() =>
    partition.truncate(order, {
      removed(truncation) {
        shard.answer(call, (writer) => writeTruncation(writer, truncation));
      },
      failed: (code) => shard.refuse(call, new CodedError(code)),
    }),
  );
}

function verify({ shard, call, partition, reader }: PartitionRequest): void {
  const from = {
    segment: reader.u64Number(),
    opsPosition: reader.u64Number(),
    logPosition: reader.u64Number(),
  };
  const lengthMax = reader.u32();
  refusingErrors(shard, call, async () => {
    const reply = await partition.verify({ from, lengthMax });
    shard.answer(call, (writer) => writer.bytes32(encodeVerifyPartitionReply(reply)));
  });
}

function repair({ shard, call, partition, reader }: PartitionRequest): void {
  const settings = readSettings(reader);
  const offsets = REPAIRED_OFFSETS[reader.u8()] ?? "proven";
  refusingErrors(shard, call, async () => {
    const reply = await partition.repair(settings, offsets);
    shard.answer(call, (writer) => {
      writeFacts(writer, partition);
      writer.bytes32(encodeRepairPartitionReply(reply));
    });
  });
}

function refusingErrors(shard: PartitionShard, call: number, action: () => Promise<void>): void {
  action().catch((error: unknown) => {
    if (!isCodedError(error)) throw error;
    shard.refuse(call, error);
  });
}
