import { CodedError, ErrorCode } from "@millrace/errors";
import { Replica } from "./replica.ts";
import type { ReplicaOptions } from "./replica-options.ts";

/**
 * The one door to a replica.
 *
 * Normal operation counts quorums for any number of replicas, but view change and recovery are not built, so
 * a group of more than one would stop for good at the first failure: it is refused here, and only here.
 * With one replica every op of the journal is committed; the host replays them (`settle` for the client
 * table) before it makes the replica.
 * @throws CodedError FeatureUnavailable for more than one replica
 */
export function createReplica(options: ReplicaOptions): Replica {
  if (options.replicaCount !== 1) {
    throw new CodedError(
      ErrorCode.FeatureUnavailable,
      `A group of ${options.replicaCount} replicas is not supported yet; use 1.`,
      { details: { replicaCount: options.replicaCount } },
    );
  }
  return new Replica(options);
}
