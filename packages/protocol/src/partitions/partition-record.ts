import type { ByteReader, ByteWriter } from "@millrace/framing";

/**
 * A partition as replies show it. `createdAt` is micros. `currentOffset` is the highest readable offset and
 * 0 when the partition is empty, so look at `messagesCount` too.
 */
export interface PartitionRecord {
  readonly id: number;
  readonly createdAt: number;
  readonly segmentsCount: number;
  readonly currentOffset: number;
  readonly byteLength: number;
  readonly messagesCount: number;
}

/** Shape: id u32, created u64, segments u32, current offset u64, bytes u64, messages u64. */
export function writePartitionRecord(writer: ByteWriter, partition: PartitionRecord): void {
  writer.u32(partition.id).u64(partition.createdAt).u32(partition.segmentsCount);
  writer.u64(partition.currentOffset).u64(partition.byteLength).u64(partition.messagesCount);
}

/** The counterpart of `writePartitionRecord`. */
export function readPartitionRecord(reader: ByteReader): PartitionRecord {
  return {
    id: reader.u32(),
    createdAt: reader.u64Number(),
    segmentsCount: reader.u32(),
    currentOffset: reader.u64Number(),
    byteLength: reader.u64Number(),
    messagesCount: reader.u64Number(),
  };
}
