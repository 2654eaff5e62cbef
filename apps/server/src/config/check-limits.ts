import { invalid } from "./invalid-setting.ts";
import type { Config } from "./schema.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** A file that the reference refuses is refused here too, also for settings without effect. */
interface Limit {
  readonly key: string;
  readonly isKept: (config: Config) => boolean;
  /** Completes "The setting KEY ...". */
  readonly otherwise: string;
}

/** Limits that depend on more than one value, or are no simple range. */
const LIMITS: readonly Limit[] = [
  {
    key: "quic.stream_receive_window",
    isKept: ({ quic }) => quic.stream_receive_window <= quic.receive_window,
    otherwise: "is above receive_window",
  },
  {
    key: "metadata.journal_slots",
    isKept: ({ metadata }) => metadata.journal_slots >= 4 * Math.max(64, metadata.prepare_queue_depth),
    otherwise: "is below 4 times the larger of 64 and prepare_queue_depth",
  },
  {
    key: "partition.wal_bytes_max",
    isKept: ({ partition: { wal_bytes_max: length } }) =>
      length >= 128 * MIB + 8 * KIB && length <= 4 * GIB && length % (4 * KIB) === 0,
    otherwise: "is no multiple of 4 KiB from 128 MiB + 8 KiB to 4 GiB",
  },
  {
    key: "partition.transfer_artifact_bytes_max",
    isKept: ({ partition, message_bus: bus }) =>
      partition.transfer_artifact_bytes_max >= GIB + Math.min(bus.max_message_size, 64 * MIB),
    otherwise: "is below 1 GiB and the longest message",
  },
  {
    key: "memory_pool.bucket_capacity",
    isKept: ({ memory_pool: pool }) => Number.isInteger(Math.log2(pool.bucket_capacity)),
    otherwise: "is no power of two",
  },
];

/**
 * Checks limits that no single value can show.
 *
 * @throws CodedError InvalidConfiguration
 * @see server-semantics section 15
 */
export function checkLimits(config: Config): void {
  const broken = LIMITS.find(({ isKept }) => !isKept(config));
  if (broken !== undefined) throw invalid(broken.key, broken.otherwise);
}
