/**
 * Bytes on the wire and on disk: headers, batches, frames, typed fields, checksums, blocks.
 *
 * ```ts
 * import { batchLengthOf, createChecksumKernel, FrameCursor, writeBatch } from "@millrace/framing";
 *
 * const kernel = createChecksumKernel();
 * const { bytes, blocksStart } = kernel.memory;
 * const messages = [{ payload: new TextEncoder().encode("hello") }];
 * const length = writeBatch(bytes, blocksStart, messages, Date.now() * 1000);
 * kernel.sealBatch(blocksStart, length);
 * kernel.verifyBatch(blocksStart, length); // undefined: nothing is wrong with it
 * const cursor = new FrameCursor(bytes, blocksStart);
 * while (cursor.next()) new TextDecoder().decode(cursor.payload); // "hello"
 * ```
 *
 * @packageDocumentation
 */
export {
  BATCH_AT,
  BATCH_HEADER_LENGTH,
  type BatchHeader,
  baseOffsetAt,
  baseTimestampAt,
  batchChecksumAt,
  batchLengthAt,
  decodeBatchHeader,
  encodeBatchHeader,
  messageCountAt,
  originTimestampAt,
  partitionIdAt,
} from "./batch-header.ts";
export { batchLengthOf, type OutgoingMessage, writeBatch } from "./batch-writer.ts";
export { BlockPool, type BlockPoolOptions } from "./blocks/block-pool.ts";
export { ForeignLease } from "./blocks/foreign-lease.ts";
export { HeapLeases } from "./blocks/heap-leases.ts";
export type { Lease, LeaseHome, LeaseSource } from "./blocks/lease.ts";
export { ByteReader } from "./byte-reader.ts";
export { ByteWriter } from "./byte-writer.ts";
export {
  type BatchFault,
  BatchFaultCode,
  type ChecksumKernel,
  type FrameRun,
  type KernelBuild,
  type KernelMemory,
} from "./checksum/checksum-kernel.ts";
export { xxh3_64 } from "./checksum/xxh3.ts";
export {
  type ChecksumKernelOptions,
  createChecksumKernel,
  createSharedMemory,
  type SharedKernelPlace,
  type SharedMemory,
} from "./checksum.ts";
export { decodeEvictionHeader, type EvictionHeader, encodeEvictionHeader } from "./eviction-header.ts";
export { FieldKind, type FieldKindName, fieldKindName } from "./field-kind.ts";
export { FrameCursor } from "./frame-cursor.ts";
export { FRAME_AT, FRAME_HEADER_LENGTH, frameLengthAt, offsetDeltaAt } from "./frame-header.ts";
export { commandAt, HEADER_LENGTH, MESSAGE_LENGTH_MAX, messageLengthAt, WireCommand } from "./header-kind.ts";
export { type KeyHash, loadKeyHash } from "./key-hash.ts";
export {
  type FrameHash,
  type GroupAddress,
  type OpenedFrame,
  openReplicaFrame,
  type PartitionAddress,
  ReplicaCommand,
  type ReplicaFrame,
  readFrameFields,
  sealReplicaFrame,
} from "./replica-frame.ts";
export {
  decodeReplyHeader,
  encodeReplyHeader,
  type ReplyFields,
  type ReplyHeader,
  replyOperationAt,
  statusAt,
  writeReplyHeader,
} from "./reply-header.ts";
export {
  codeAt,
  decodeRequestHeader,
  encodeRequestHeader,
  hasClientAt,
  hasRequestChecksumAt,
  operationAt,
  type RequestHeader,
  type RequestHeaderFields,
  renewRequestHeader,
  requestHighAt,
  requestLowAt,
  sessionHighAt,
  sessionLowAt,
} from "./request-header.ts";
export { FIELD_LENGTH_MAX, type FieldValue, fieldValue, type TypedField, typedField } from "./typed-field.ts";
export {
  decodeTypedFields,
  encodeTypedFields,
  readTypedField,
  type TypedFieldPair,
  writeTypedField,
} from "./typed-field-codec.ts";
export { encodeUtf8 } from "./utf8-text.ts";
export { setU64Number } from "./wide-integer.ts";
export { isWireError, WireError, type WireReason } from "./wire-error.ts";
