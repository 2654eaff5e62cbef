import type { ChecksumKernel } from "@millrace/framing";
import type { Clock, Counter, Log } from "@millrace/platform";
import type { BatchCipher } from "@millrace/storage";
import type { PrepareFields } from "@millrace/vsr";
import type { PartitionGroup } from "./partition-group.ts";

/** What every partition group of a broker shares. */
export interface GroupContext {
  readonly clock: Clock;
  readonly log: Log;
  /** Counts requests answered with 58: no room in time, or not open yet. */
  readonly deniedTransient: Counter;
  readonly kernel: ChecksumKernel;
  readonly checksumOf: (fields: PrepareFields) => bigint;
  /** Operations between prepare and commit, 1..127. */
  readonly prepareQueueDepth: number;
  /** Milliseconds an operation waits for room before it is refused with 58. */
  readonly admissionTimeoutMs: number;
  /** Called when an op took effect: what the partition holds may be something else now. */
  readonly onApplied: ((group: PartitionGroup) => void) | undefined;
  /** Makes the stored form of batches; absent when the data directory is not encrypted. */
  readonly batchCipher: BatchCipher | undefined;
}
