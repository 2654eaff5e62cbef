/**
 * Segments, op records, indexes, the metadata journal and recovery.
 *
 * ```ts
 * import { openPartition, TailCache } from "@millrace/storage";
 *
 * const partition = await openPartition({
 *   disk, path: "streams/1/topics/1/partitions/0-7", identity, kernel, pool, log, role: "exclusive",
 *   tailCache: new TailCache({ lengthMax: 67_108_864 }),
 *   segmentLengthMax: 1_073_741_824, durability: "replicated", offsetDurability: "replicated",
 *   validateChecksums: true, consumerOffsetsMax: 4096,
 * });
 * partition.commit(partition.lastOp); // on one node all that is journaled is committed
 * partition.appendBatch(header, batchLease, (error) => {
 *   if (error === undefined) partition.commit(header.op);
 * });
 * ```
 *
 * @packageDocumentation
 */
export {
  checkDataFormat,
  type DataFormat,
  FORMAT_FILE,
  lockDataDirectory,
  writeDataFormat,
} from "./data-directory/data-directory.ts";
export { BatchCipher, type BatchCipherOptions } from "./encryption/batch-cipher.ts";
export { checkEncryption, makeKeyCheck } from "./encryption/key-check.ts";
export type { MetadataJournal } from "./metadata-journal/metadata-journal.ts";
export { openMetadataJournal } from "./metadata-journal/open-metadata-journal.ts";
export type { JournalRecord, JournalSource } from "./metadata-journal/recover-journal.ts";
export type { MetadataSnapshot } from "./metadata-journal/snapshot-file.ts";
export type { PartitionIdentity } from "./op-record/checkpoint.ts";
export { type OpHeader, StorageOperation } from "./op-record/op-header.ts";
export type { BatchFacts } from "./partition/appends.ts";
export type { StoredOffset } from "./partition/consumer-offsets.ts";
export { mayPass } from "./partition/fence.ts";
export type { Durability } from "./partition/group-writer.ts";
export type { AppendDone } from "./partition/op-entry.ts";
export { deletePartitionFiles, openPartition } from "./partition/open-partition.ts";
export type { Partition } from "./partition/partition.ts";
export type { PartitionOptions, StorageRole } from "./partition/partition-options.ts";
export type { ReadDone, ReadRequest } from "./partition/partition-reader.ts";
export type { ReadResult } from "./partition/read-job.ts";
export type { SealedSegment } from "./partition/retained.ts";
export type { RepairedOffsets, RepairReport } from "./recovery/repair-damage.ts";
export { type CutSource, cutPartition } from "./replication/cut-partition.ts";
export type { StateDescription, StateFile } from "./replication/describe-state.ts";
export { IncomingState, installIncoming } from "./replication/incoming-state.ts";
export type { StoredPrepare } from "./replication/prepare-reader.ts";
export { REQUESTS_PER_CLIENT_MAX } from "./requests/latest-requests.ts";
export { bodyChecksum, type RememberedRequest } from "./requests/remembered-request.ts";
export { REQUEST_CLIENTS_DEFAULT } from "./requests/request-memory.ts";
export { openSuperblock, type Superblock } from "./superblock/superblock.ts";
export type { SuperblockRecord } from "./superblock/superblock-record.ts";
export { TailCache } from "./tail-cache/tail-cache.ts";
export type { Damage, DamageKind, VerifyStep } from "./verification/tally.ts";
export { VERIFY_FROM_START, type VerifyCursor } from "./verification/verify-cursor.ts";
export type { VerifyRequest } from "./verification/verify-step.ts";
export type { ViewLogSource } from "./view-log/read-view-file.ts";
export { openViewLog, type ViewLog } from "./view-log/view-log.ts";
export type { GroupView } from "./view-log/view-record.ts";
