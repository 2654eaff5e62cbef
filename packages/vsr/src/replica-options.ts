import type { ClientTable } from "./client-table/client-table.ts";
import type { PrepareFields } from "./prepare.ts";

/** What a replica found in its journal and superblock. */
export interface Recovered {
  readonly view: number;
  readonly logView: number;
  /** Last op of the journal, 0 when it is empty. */
  readonly op: number;
  /** Last op known to be committed. With one replica every journaled op is. */
  readonly commit: number;
  /** Checksum of `op`, 0n when the journal is empty. */
  readonly checksum: bigint;
}

/** What a replica is made from. */
export interface ReplicaOptions {
  /** This replica's index, 0..replicaCount-1. */
  readonly replica: number;
  readonly replicaCount: number;
  readonly cluster: bigint;
  /** Ops in flight at most, 1..127. */
  readonly prepareQueueDepth: number;
  readonly recovered: Recovered;
  /** The metadata group keeps one; partition groups do not. It stands as of `recovered.op`. */
  readonly clientTable?: ClientTable;
  /** Checksum of a prepare; pure. See `PrepareFields` for what it covers. */
  readonly checksumOf: (fields: PrepareFields) => bigint;
}
