import { assert } from "@millrace/errors";

/** Replicas a group may have: one bit of a 32-bit set each. */
export const REPLICAS_MAX = 32;

/** Replicas that must have an op before it counts as replicated: three survive any single loss twice over. */
const REPLICATION_QUORUM_MAX = 3;

/** How many replicas must agree, this one counted. */
export interface Quorums {
  /** Replicas whose journal must hold an op before it commits. */
  readonly replication: number;
  /** Replicas that must take part in a view change; also what proves that an op was never committed. */
  readonly viewChange: number;
}

/**
 * Quorums of a group of `replicaCount`: any replication quorum meets any view-change quorum in one replica.
 *
 * Flexible quorums: beyond five replicas an op waits for three only, and a view change asks more of them.
 * Two replicas both have to answer, always.
 * @see server-semantics, section 19; Viewstamped Replication Revisited, section 4
 */
export function quorums(replicaCount: number): Quorums {
  assert(
    Number.isInteger(replicaCount) && replicaCount >= 1 && replicaCount <= REPLICAS_MAX,
    "a group has 1 to 32 replicas",
  );
  if (replicaCount === 2) return { replication: 2, viewChange: 2 };
  const replication = Math.min(Math.ceil(replicaCount / 2), REPLICATION_QUORUM_MAX);
  return { replication, viewChange: replicaCount - replication + 1 };
}
