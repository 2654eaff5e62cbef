import { assert } from "@millrace/errors";
import type { DoViewChange } from "../messages/do-view-change.ts";
import type { Mutations } from "../mutations.ts";
import { checksumIn, type LogEnd } from "./log-end.ts";

/** The group that merges. */
export interface MergeRules {
  readonly replicaCount: number;
  /** Nacks that prove that an op was never committed; also the replicas a view change needs. */
  readonly nackQuorum: number;
  /** Replicas that have an op when it commits. */
  readonly replication: number;
  readonly mutations: Mutations;
}

/** The log of the new view. */
export interface MergedLog extends LogEnd {
  /** Highest op that any of the senders knows to be committed. */
  readonly commitKnown: number;
  /** Whose log it is. */
  readonly source: number;
}

/**
 * The log of the new view, or nothing while too few have spoken to be certain.
 *
 * It is the longest of those with the highest log view: whatever was committed in an older view is in it.
 * From the commit upward an op is kept until a nack quorum proves one uncommitted; that one and what
 * follows goes. The op after the end must be proven in the same way: whoever may have lost ops gives no
 * nack, so that it does not count, unless every replica has spoken and there is nothing more to hear.
 * @param logs  at most one of each replica; of equals the first wins
 * @see Viewstamped Replication Revisited, section 4.2, step 3. Departure: nacks, after server-semantics 19
 */
export function mergeLogs(logs: readonly DoViewChange[], rules: MergeRules): MergedLog | undefined {
  const { replicaCount, nackQuorum, replication, mutations } = rules;
  const witnesses = logs.filter((log) => givesNacks(log, mutations));
  const isProven = nacksOf(witnesses.length, mutations) >= nackQuorum;
  if (!isProven && logs.length < replicaCount) return undefined;
  const commitKnown = Math.max(...logs.map((log) => log.commit));
  const isEnough = witnesses.length > replicaCount - replication;
  const complete = (isEnough ? witnesses : logs).filter((log) => log.op >= commitKnown);
  const best = isEnough ? bestOf(complete) : continued(bestOf(complete), complete);
  assert(best !== undefined, "a log that the group can go on with holds all that is committed");
  const end = firstNacked(best, witnesses, commitKnown, rules) - 1;
  return {
    op: end,
    commit: best.commit,
    commitChecksum: best.commitChecksum,
    headers: best.headers.slice(0, end - best.commit),
    commitKnown,
    source: best.replica,
  };
}

function bestOf(logs: readonly DoViewChange[]): DoViewChange | undefined {
  return logs.reduce<DoViewChange | undefined>(betterOf, undefined);
}

/**
 * Where too many may have lost ops, the best log may have lost its end: a log that goes on where it ends is
 * better.
 */
function continued(best: DoViewChange | undefined, logs: readonly DoViewChange[]): DoViewChange | undefined {
  if (best === undefined) return undefined;
  const end = checksumIn(best, best.op);
  return bestOf(logs.filter((log) => log.op > best.op && checksumIn(log, best.op) === end)) ?? best;
}

function betterOf(best: DoViewChange | undefined, log: DoViewChange): DoViewChange {
  if (best === undefined || log.logView > best.logView) return log;
  return log.logView === best.logView && log.op > best.op ? log : best;
}

/** The first op above what is committed that a nack quorum does not have; the op after the end otherwise. */
function firstNacked(
  best: DoViewChange,
  witnesses: readonly DoViewChange[],
  commitKnown: number,
  { nackQuorum, mutations }: MergeRules,
): number {
  for (const { op, checksum } of best.headers) {
    if (op <= commitKnown) continue;
    const nacks = witnesses.filter((log) => log.headers[op - log.commit - 1]?.checksum !== checksum).length;
    if (nacksOf(nacks, mutations) >= nackQuorum) return op;
  }
  return best.op + 1;
}

function givesNacks({ mayHaveLost }: DoViewChange, mutations: Mutations): boolean {
  return !mayHaveLost || mutations.nackWhatMayBeLost === true;
}

function nacksOf(count: number, { loseNack }: Mutations): number {
  return loseNack === true ? Math.max(0, count - 1) : count;
}
