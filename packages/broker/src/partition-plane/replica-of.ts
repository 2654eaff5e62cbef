import type { CodedError } from "@millrace/errors";
import type { Partition } from "@millrace/storage";
import { createReplica, type Prepare, type Replica } from "@millrace/vsr";
import type { GroupContext } from "./group-context.ts";

/** What the journal and the views tell of a group of several replicas. */
export interface RecoveredGroup {
  /** Journaled ops that are not known to be committed, in order; bodies are `QueuedOp`. */
  readonly suffix: readonly Prepare[];
  /** An operation of the suffix is damaged: the replica takes no part, and shows what is committed. */
  readonly fault?: CodedError | undefined;
  /** The group has just been made. */
  readonly isNew: boolean;
  /** The replica may have spoken in it before its directory was lost. */
  readonly isForgotten: boolean;
  /**
   * Given: nothing of the journal counts, and another replica's state of this op or a later one replaces it.
   */
  readonly stateNeeded?: number;
  /**
   * Files of the journal are gone, some or all, or never were here: until the replica holds the log of a
   * view, by another's state or op by op, nobody is shown what is left.
   */
  readonly isLost?: boolean;
}

/**
 * The replica of a partition as it was opened. One that is alone counts everything journaled as committed.
 */
export function replicaOf(context: GroupContext, partition: Partition, recovered?: RecoveredGroup): Replica {
  const { lastOp: op, lastOpChecksum: checksum, lastView: view } = partition;
  const { prepareQueueDepth, checksumOf, replication } = context;
  const facts = { prepareQueueDepth, checksumOf };
  if (replication === undefined || recovered === undefined) {
    const alone = { replica: 0, replicaCount: 1, cluster: 0n };
    return createReplica({
      ...facts,
      ...alone,
      recovered: { view, logView: view, op, commit: op, checksum },
    });
  }
  const { suffix, isNew, isForgotten: isViewForgotten, stateNeeded } = recovered;
  const commit = op - suffix.length;
  const commitChecksum = suffix[0]?.parent ?? checksum;
  const { view: groupView, logView, mayHaveLost } = replication.viewLog.get(partition.identity);
  const views = { view: groupView, logView, isViewForgotten, mayHaveLost: mayHaveLost || isViewForgotten };
  const common = { ...facts, ...replication.peersOf(partition.identity).options };
  if (stateNeeded !== undefined) {
    return createReplica({ ...common, recovered: { ...views, ...NOTHING, mayHaveLost: true, stateNeeded } });
  }
  return createReplica({
    ...common,
    recovered: { ...views, op, commit, checksum, commitChecksum, suffix, isNew },
  });
}

/** What a replica whose journal does not count says of it. */
const NOTHING = { logView: 0, op: 0, commit: 0, checksum: 0n } as const;
