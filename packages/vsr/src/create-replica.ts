import { CodedError, ErrorCode } from "@millrace/errors";
import { Replica } from "./replica.ts";
import type { ReplicaOptions } from "./replica-options.ts";

/** Replicas of a group at most. The core counts to 32; up to here it is tested. */
export const GROUP_REPLICAS_MAX = 7;

/**
 * The one door to a replica.
 *
 * With one replica every op of the journal is committed; the host replays them (`settle` for the client
 * table) before it makes the replica. With several it replays up to `recovered.commit` and hands over the
 * rest as `recovered.suffix`.
 * @throws CodedError FeatureUnavailable for more than 7 replicas
 */
export function createReplica(options: ReplicaOptions): Replica {
  if (options.replicaCount > GROUP_REPLICAS_MAX) {
    throw new CodedError(
      ErrorCode.FeatureUnavailable,
      `A group of ${options.replicaCount} replicas is not supported; use 1 to ${GROUP_REPLICAS_MAX}.`,
      { details: { replicaCount: options.replicaCount } },
    );
  }
  return new Replica(options);
}
