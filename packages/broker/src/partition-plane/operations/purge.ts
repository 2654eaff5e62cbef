import { ByteWriter } from "@millrace/framing";
import type { Clock, Log } from "@millrace/platform";
import { StorageOperation } from "@millrace/storage";
import { SERVER_CLIENT } from "@millrace/vsr";
import type { ForwardedOps } from "../forwarding/forwarded-ops.ts";
import type { PartitionGroup } from "../partition-group.ts";
import type { PurgeOp } from "../partition-op.ts";

/** Milliseconds between two looks whether the group's primary has purged, or this replica became it. */
const PURGE_RETRY_DELAY_MS = 100;

/** Milliseconds until a silent replica asks the others again; doubled each time. */
const FIRST_ASK_DELAY_MS = 500;

/** How much longer than for room somebody waits for the word of a primary; as for what is passed on. */
const PATIENCE_FACTOR = 5;

/** What purging needs of its host. */
export interface PurgeHost {
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds an operation waits for room before it is refused with 58. */
  readonly admissionTimeoutMs: number;
  /** Asks the other nodes; absent where there is no other. */
  readonly forwardedOps: Pick<ForwardedOps, "purge"> | undefined;
}

interface Purging {
  readonly group: PartitionGroup;
  readonly generation: number;
  readonly host: PurgeHost;
}

/**
 * See `PartitionHandle.purge`. In a group of several replicas the primary asks for it, whichever that is by
 * then, and the others wait until they have it from there. A silent replica hears of nothing: it tells the
 * others of the decision and waits for the word of the primary that the purge is committed, for a while. Only
 * that word is proof: a primary that knows of the decision may have forgotten it after a restart, and one
 * that does not takes messages which the purge would take. Once a silent replica begins anew it takes up the
 * purge again.
 */
export async function purgePartition(
  group: PartitionGroup,
  generation: number,
  host: PurgeHost,
): Promise<boolean> {
  group.purges.decide(generation);
  await new Promise<void>((resolve) => group.afterOpen(resolve));
  if (group.replication !== undefined) {
    return new Promise<boolean>((resolve) => void purgeTogether({ group, generation, host }, resolve));
  }
  if ((group.partition?.purgeGeneration ?? 0) < generation) await purgeHere(group, generation, host.log);
  return true;
}

/** See `PartitionHandle.purgeHeld`. */
export async function purgeHeld(group: PartitionGroup, host: PurgeHost): Promise<boolean> {
  const generation = group.purges.decided;
  if (group.replication === undefined || !isDue(group, generation)) return true;
  return new Promise<boolean>((resolve) => void waitForWord({ group, generation, host }, resolve));
}

/** @param done  called once it is known to be committed or nobody could tell, and perhaps again */
async function purgeTogether(purge: Purging, done: (isHeld: boolean) => void): Promise<void> {
  const { group, generation, host } = purge;
  const word = new PrimarysWord(purge);
  while (isDue(group, generation)) {
    if (isSilent(group)) {
      if (!word.waits()) done(false);
    } else if (isToBeAsked(group, generation)) await purgeHere(group, generation, host.log);
    if (isDue(group, generation)) await pause(host.clock);
  }
  done(isKnownToEnd(group));
}

/** Waits as `purgeTogether` does for a purge that is under way. */
async function waitForWord(purge: Purging, done: (isHeld: boolean) => void): Promise<void> {
  const { group, generation, host } = purge;
  const word = new PrimarysWord(purge);
  while (isDue(group, generation)) {
    if (isSilent(group) && !word.waits()) {
      done(false);
      return;
    }
    await pause(host.clock);
  }
  done(isKnownToEnd(group));
}

/** What a silent replica hears from the group's primary of one purge, as long as it has patience. */
class PrimarysWord {
  readonly #purge: Purging;
  readonly #patienceMs: number;
  #silentMs = 0;
  #nextAskMs = 0;
  #delayMs = FIRST_ASK_DELAY_MS;

  constructor(purge: Purging) {
    this.#purge = purge;
    this.#patienceMs = PATIENCE_FACTOR * purge.host.admissionTimeoutMs;
  }

  /** Call it once in each look; false once it was waited for long enough. */
  waits(): boolean {
    if (this.#silentMs >= this.#patienceMs) return false;
    if (this.#silentMs >= this.#nextAskMs) this.#ask();
    this.#silentMs += PURGE_RETRY_DELAY_MS;
    return true;
  }

  #ask(): void {
    const { group, generation, host } = this.#purge;
    this.#nextAskMs += this.#delayMs;
    this.#delayMs *= 2;
    host.forwardedOps?.purge(group, generation, () => group.purges.confirm(generation));
  }
}

function pause(clock: Clock): Promise<void> {
  return new Promise<void>((resolve) => void clock.setTimer(PURGE_RETRY_DELAY_MS, resolve));
}

/**
 * A replica that was stopped, could not be opened, or lost its log hears nothing of what the others commit;
 * the last one until it has another's state, which may be never.
 */
function isSilent({ replication, replica, isLost }: PartitionGroup): boolean {
  return replication?.isStopped === true || replica === undefined || isLost;
}

/**
 * Journaled is not committed: a purge may still be cut. A partition that is not there just now is being cut,
 * or could not be opened. A later purge brings this one with it.
 */
function isDue({ partition, isAhead, isClosed, purges }: PartitionGroup, generation: number): boolean {
  if (isClosed || purges.isConfirmed(generation)) return false;
  return partition === undefined || isAhead || partition.committedPurgeGeneration < generation;
}

/** A deleted partition holds nothing any more; what a node that stops has not heard of is unknown. */
function isKnownToEnd({ isClosed, replication }: PartitionGroup): boolean {
  return !isClosed || replication?.isNodeStopped !== true;
}

function isToBeAsked({ partition, isPrimary, isAhead, purges }: PartitionGroup, generation: number): boolean {
  if (generation < purges.decided) return false;
  const isTold = purges.isUnderWay || (partition?.purgeGeneration ?? generation) >= generation;
  return isPrimary && !isAhead && !isTold;
}

function purgeHere(group: PartitionGroup, generation: number, log: Log): Promise<void> {
  return new Promise<void>((resolve) => {
    const op: PurgeOp = {
      operation: StorageOperation.purge,
      generation,
      client: SERVER_CLIENT,
      request: 0n,
      user: 0,
      body: new ByteWriter(8).u64(generation).finish(),
      // There is room once the files are gone.
      committed: () => void (group.partition?.filesRemoved() ?? Promise.resolve()).then(resolve),
      failed: (code) => {
        const facts = { ...group.identity, generation, code };
        log.error("A partition could not be purged; that comes before the next write to it.", facts);
        resolve();
      },
    };
    if (group.partition !== undefined) return group.purge(op);
    group.purges.owe(op);
    resolve();
  });
}
