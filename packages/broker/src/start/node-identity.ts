import { CodedError, ErrorCode } from "@millrace/errors";
import type { ChecksumKernel } from "@millrace/framing";
import type { Disk, Log } from "@millrace/platform";
import { openSuperblock, type Superblock, type SuperblockRecord } from "@millrace/storage";
import { METADATA_PATH } from "../metadata-plane/metadata-path.ts";

/** Which node of which cluster a data directory belongs to; written into its superblocks. */
export interface NodeIdentity {
  /** Made of the cluster's name; 0 for a server that stands alone. */
  readonly cluster: bigint;
  readonly replica: number;
  /** Nodes of the roster, this one included. */
  readonly replicaCount: number;
}

/** A server that is no node of a cluster. */
export const STANDING_ALONE: NodeIdentity = { cluster: 0n, replica: 0, replicaCount: 1 };

/**
 * Sees that the superblocks, where there are some, are those of this node. A directory of a server that stood
 * alone may become that of a cluster of one node; among several, its log would be nobody else's.
 *
 * @throws CodedError ForeignDataDirectory that says what differs; MetadataDamaged
 */
export async function checkIdentity(
  { disk, log, kernel }: { readonly disk: Disk; readonly log: Log; readonly kernel: ChecksumKernel },
  identity: NodeIdentity,
): Promise<void> {
  const { record } = await openSuperblock(disk, METADATA_PATH, kernel, log);
  const difference = record.sequence === 0 ? undefined : differenceOf(record, identity);
  if (difference === undefined) return;
  const text = `The data in ${disk.root} ${difference}, or name an empty directory.`;
  throw new CodedError(ErrorCode.ForeignDataDirectory, text, { details: { path: disk.root } });
}

/** Writes the identity into superblocks that have another one. */
export async function keepIdentity(superblock: Superblock, identity: NodeIdentity): Promise<void> {
  const { cluster, replica, replicaCount } = superblock.record;
  const isThere =
    cluster === identity.cluster && replica === identity.replica && replicaCount === identity.replicaCount;
  if (!isThere) await superblock.write(identity);
}

/** Completes "The data in PATH ..."; undefined when it is this node's. */
function differenceOf(record: SuperblockRecord, { cluster, replica, replicaCount }: NodeIdentity) {
  const stoodAlone = record.cluster === 0n;
  if (stoodAlone && replicaCount > 1) {
    return `is of a server that stood alone and cannot join ${replicaCount} nodes: set cluster.enabled to false`;
  }
  if (stoodAlone) return undefined;
  if (cluster === 0n)
    return "is of a node of a cluster: set cluster.enabled to true and cluster.name as it was";
  if (record.cluster !== cluster) return "is of a cluster with another name: set cluster.name as it was";
  if (record.replica !== replica) {
    return `is of replica ${record.replica}, and this is replica ${replica}: start with the --replica-id it had`;
  }
  if (record.replicaCount === replicaCount) return undefined;
  return `is of a cluster of ${record.replicaCount} nodes, and the roster has ${replicaCount}: leave it as it was`;
}
