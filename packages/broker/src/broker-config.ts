import { SEGMENT_SIZE_MIN_DEFAULT } from "@millrace/metadata";
import { CONSUMER_OFFSETS_DEFAULT, SESSIONS_DEFAULT } from "@millrace/protocol";
import { REQUEST_CLIENTS_DEFAULT } from "@millrace/storage";

/** What a broker can be told, as plain values with units in their names. */
export interface BrokerConfig {
  /** Longest message in both directions, header included. */
  readonly messageLengthMax: number;
  /** Longest message before login: names, a password and a context fit, batches of strangers do not. */
  readonly strangerMessageLengthMax: number;
  /**
   * Operations of one partition between prepare and commit, 1..4096; among several replicas 127 at most (ADR
   * 0061).
   */
  readonly partitionQueueDepth: number;
  /** Operations of the metadata group between prepare and commit, 1..127. */
  readonly metadataQueueDepth: number;
  /** Milliseconds a write waits for room before it is refused with 58. */
  readonly admissionTimeoutMs: number;
  readonly clientsTableMax: number;
  /** Stored consumer offsets per partition and kind. */
  readonly consumerOffsetsMax: number;
  /** Smallest segment size that a new topic may ask for, in bytes. */
  readonly segmentSizeMin: number;
  /** Clients per partition whose latest requests are remembered, so that a repetition is known. */
  readonly requestClientsMax: number;
  readonly validateChecksums: boolean;
  /** Bytes of recent messages kept in memory over all partitions. */
  readonly tailCacheLengthMax: number;
  readonly heartbeat: { readonly isEnabled: boolean; readonly intervalMs: number };
  /** Milliseconds a member may take to commit what it polled before its partition goes to another. */
  readonly rebalancingTimeoutMs: number;
  /** Requests of one connection received and not answered; beyond it its socket is paused. */
  readonly requestsInFlightMax: number;
  /** Bytes of one connection's replies that are not written yet; beyond it none of its requests begins. */
  readonly repliesLengthMax: number;
  /** The same of all connections together; beyond it only connections that owe next to nothing go on. */
  readonly allRepliesLengthMax: number;
  /** Personal access tokens one user may hold. */
  readonly tokensPerUserMax: number;
  /** Deletes expired tokens. */
  readonly tokenCleaner: { readonly isEnabled: boolean; readonly intervalMs: number };
  /** Verifies all files in the background. */
  readonly scrubber: {
    readonly isEnabled: boolean;
    /** Milliseconds from the beginning of one pass to that of the next. */
    readonly intervalMs: number;
    readonly bytesPerSecond: number;
  };
  /** Removes what has expired and what exceeds the size of a topic. */
  readonly messageCleaner: { readonly isEnabled: boolean; readonly intervalMs: number };
  /** Metadata ops between two snapshots: replaying as many takes a few milliseconds. */
  readonly snapshotEveryOps: number;
  /** Partitions opened at once; each takes a few file calls, so more would only wait in the thread pool. */
  readonly partitionsOpeningMax: number;
  /**
   * Milliseconds that sessions found at start wait for their client to come back before they are logged out.
   */
  readonly recoveredSessionGraceMs: number;
}

const MIB = 1024 * 1024;

/** The configuration of a server that was told nothing. */
export const BROKER_DEFAULTS: BrokerConfig = {
  messageLengthMax: 64 * MIB,
  // The longest login without its context has 1.1 KiB. As many strangers as may connect hold half the pool.
  strangerMessageLengthMax: MIB / 64,
  partitionQueueDepth: 32,
  metadataQueueDepth: 32,
  admissionTimeoutMs: 2000,
  clientsTableMax: SESSIONS_DEFAULT,
  consumerOffsetsMax: CONSUMER_OFFSETS_DEFAULT,
  segmentSizeMin: SEGMENT_SIZE_MIN_DEFAULT,
  requestClientsMax: REQUEST_CLIENTS_DEFAULT,
  validateChecksums: true,
  tailCacheLengthMax: 256 * MIB,
  heartbeat: { isEnabled: true, intervalMs: 30_000 },
  rebalancingTimeoutMs: 30_000,
  requestsInFlightMax: 1024,
  repliesLengthMax: 8 * MIB,
  allRepliesLengthMax: 256 * MIB,
  tokensPerUserMax: 100,
  tokenCleaner: { isEnabled: true, intervalMs: 60_000 },
  scrubber: { isEnabled: true, intervalMs: 86_400_000, bytesPerSecond: 8 * MIB },
  messageCleaner: { isEnabled: true, intervalMs: 60_000 },
  snapshotEveryOps: 1024,
  partitionsOpeningMax: 16,
  recoveredSessionGraceMs: 120_000,
};
