import { BROKER_DEFAULTS, type BrokerConfig } from "@millrace/broker";
import type { Config } from "../config/schema.ts";

/** Part of the message memory that recent messages may keep; the rest is for messages on their way. */
const TAIL_CACHE_PART = 0.5;

/** What the broker needs of the configuration. */
export function brokerConfig(config: Config): BrokerConfig {
  return {
    ...BROKER_DEFAULTS,
    messageLengthMax: config.message_bus.max_message_size,
    partitionQueueDepth: config.partition.prepare_queue_depth,
    metadataQueueDepth: config.metadata.prepare_queue_depth,
    admissionTimeoutMs: config.sharding.admission_timeout,
    clientsTableMax: config.metadata.clients_table_max,
    consumerOffsetsMax: config.partition.consumer_offsets_max,
    requestClientsMax: config.partition.dedup_clients_max,
    validateChecksums: config.partition.validate_checksum,
    tailCacheLengthMax: Math.floor(config.memory_pool.size * TAIL_CACHE_PART),
    heartbeat: { isEnabled: config.heartbeat.enabled, intervalMs: config.heartbeat.interval },
    tokensPerUserMax: config.personal_access_token.max_tokens_per_user,
    tokenCleaner: {
      isEnabled: config.personal_access_token.cleaner.enabled,
      intervalMs: config.personal_access_token.cleaner.interval,
    },
    scrubber: {
      isEnabled: config.scrubber.enabled,
      intervalMs: config.scrubber.interval,
      bytesPerSecond: config.scrubber.bytes_per_second,
    },
    messageCleaner: {
      isEnabled: config.data_maintenance.messages.cleaner_enabled,
      intervalMs: config.data_maintenance.messages.interval,
    },
    rebalancingTimeoutMs: config.consumer_group.rebalancing_timeout,
    snapshotEveryOps: config.metadata.journal_slots,
  };
}
