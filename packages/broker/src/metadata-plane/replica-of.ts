import type { MetadataJournal, Superblock } from "@millrace/storage";
import {
  type ClientTable,
  createReplica,
  type Prepare,
  type PrepareFields,
  type Recovered,
  type Replica,
} from "@millrace/vsr";
import type { GroupPeers } from "../cluster/group-peers.ts";
import type { LogEnd } from "./snapshot.ts";

/** What every replica of the group is made with. */
export interface ReplicaOptions {
  readonly journal: MetadataJournal;
  readonly checksumOf: (fields: PrepareFields) => bigint;
  readonly prepareQueueDepth: number;
  /** Absent where there are no other replicas. */
  readonly peers?: GroupPeers | undefined;
}

/** Where one goes on from. */
export interface ReplicaBeginning {
  /** The last executed op. */
  readonly end: LogEnd;
  /** Journaled ops behind it, in order. */
  readonly suffix: readonly Prepare[];
  /** The group has just been made. */
  readonly isNew: boolean;
  readonly clientTable: ClientTable;
}

/**
 * The metadata group's replica; one that is alone counts what it has executed as committed and nothing else.
 */
export function replicaOf(options: ReplicaOptions, beginning: ReplicaBeginning): Replica {
  const { prepareQueueDepth, checksumOf, peers, journal } = options;
  const { end, suffix, isNew, clientTable } = beginning;
  const facts = { prepareQueueDepth, checksumOf, clientTable };
  if (peers === undefined) {
    const { op, view, checksum } = end;
    const recovered = { view, logView: view, op, commit: op, checksum };
    return createReplica({ ...facts, replica: 0, replicaCount: 1, cluster: 0n, recovered });
  }
  const recovered = recoveredReplica(journal.superblock, end, suffix);
  return createReplica({
    ...facts,
    ...peers.options,
    recovered: isNew ? { ...recovered, isNew } : recovered,
  });
}

/**
 * A replica that never spoke, or whose newest record of its view may be gone, is taken for one whose
 * directory was wiped, until it knows better.
 */
function recoveredReplica(
  { record, isDoubtful }: Superblock,
  end: LogEnd,
  suffix: readonly Prepare[],
): Recovered {
  const { view, logView, mayHaveLost, hasSpoken } = record;
  const last = suffix.at(-1) ?? end;
  const isViewForgotten = !hasSpoken || isDoubtful;
  return {
    ...{ view, logView, isViewForgotten, mayHaveLost: mayHaveLost || isViewForgotten },
    ...{ op: last.op, checksum: last.checksum, commit: end.op, commitChecksum: end.checksum, suffix },
  };
}
