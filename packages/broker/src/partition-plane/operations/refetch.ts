import { CodedError, ErrorCode } from "@millrace/errors";
import type { Clock, Log } from "@millrace/platform";
import type { GroupStanding, RepairPartitionReply } from "@millrace/protocol";
import { VERIFY_FROM_START, type VerifyCursor } from "@millrace/storage";
import { quorums } from "@millrace/vsr";
import type { ReplicationContext } from "../group-context.ts";
import type { PartitionGroup } from "../partition-group.ts";
import type { PartitionReplication } from "../partition-replication.ts";
import { verifyPartition } from "./verify.ts";

/** Milliseconds until an answer says that it goes on: clients give up after thirty seconds. */
const ANSWER_MAX_MS = 20_000;
/** Milliseconds between two looks how far it is. */
const LOOK_MS = 20;
/** Milliseconds in which another node takes the lead, when it does. */
const HAND_OVER_MAX_MS = 10_000;
/** Milliseconds in which a replica takes part in its group, when it does. */
const READY_MAX_MS = 15_000;
/** Failed transfers for each of the others, after which none of them is taken to have a good state. */
const FAILURES_MAX = 2;
/** Milliseconds in which nothing comes from the others, after which nothing is taken to come. */
const STALLED_MAX_MS = 120_000;
/** Milliseconds after which nobody asks any more how a repair ended: who asks then wants another one. */
const TOLD_MAX_MS = 300_000;
/** Bytes that are checked before others get their turn. */
const VERIFY_LENGTH = 4_194_304;

/** What a repair in a cluster works with. */
export interface RefetchOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly group: PartitionGroup;
  readonly shared: Pick<ReplicationContext, "standingsIn" | "peersOf" | "fetchProgress">;
}

/** One repair, and how it ended. */
interface Run {
  outcome: Outcome | undefined;
  endedMs: number;
}

type Outcome = { readonly reply: RepairPartitionReply } | { readonly error: unknown };

/**
 * The repair of a partition on a node of a cluster: when anything of it is damaged here, the state of another
 * node takes its place, by the transfer that fills nodes which are behind.
 *
 * It goes on when nobody waits for it any more; who asks again hears of the same one.
 * @see docs/adr/0064
 */
export class Refetch {
  readonly #options: RefetchOptions;
  /** Under way, or ended and not heard of by anybody. */
  #run: Run | undefined;
  /** What is damaged, once it is known. */
  #damage = "";

  constructor(options: RefetchOptions) {
    this.#options = options;
  }

  /**
   * Begins it, or joins the one that is under way; settles when it has ended, or with `under-way` after a
   * while.
   * @throws CodedError why nothing is repaired
   */
  async answer(): Promise<RepairPartitionReply> {
    const { clock, group } = this.#options;
    const startMs = clock.monotonicMs();
    if (this.#run?.outcome !== undefined && startMs - this.#run.endedMs > TOLD_MAX_MS) this.#run = undefined;
    const run = this.#run ?? this.#begin();
    while (run.outcome === undefined && clock.monotonicMs() < startMs + ANSWER_MAX_MS) await this.#pause();
    const { outcome: ended } = run;
    if (ended === undefined) {
      const nextOffset = group.partition?.nextOffset ?? 0;
      return { outcome: "under-way", offsets: "proven", nextOffset, damage: this.#damage };
    }
    if (this.#run === run) this.#run = undefined;
    if ("error" in ended) throw ended.error;
    return ended.reply;
  }

  #begin(): Run {
    const run: Run = { outcome: undefined, endedMs: 0 };
    const end = (outcome: Outcome) => {
      run.endedMs = this.#options.clock.monotonicMs();
      run.outcome = outcome;
    };
    this.#run = run;
    this.#damage = "";
    void this.#repair().then(
      (reply) => end({ reply }),
      (error: unknown) => end({ error }),
    );
    return run;
  }

  async #repair(): Promise<RepairPartitionReply> {
    const { group, log } = this.#options;
    const damage = await this.#findDamage();
    if (damage === undefined) return this.#reply("healthy", "");
    this.#damage = damage;
    const others = await this.#othersThatGoOn();
    log.warn("A damaged partition is fetched anew from the other nodes.", { ...group.identity, damage });
    await this.#fetch(others);
    log.info("A damaged partition was replaced by what the other nodes have.", { ...group.identity });
    return this.#reply("fetched", damage);
  }

  get #replication(): PartitionReplication {
    const { replication } = this.#options.group;
    if (replication === undefined) throw stopped();
    return replication;
  }

  #reply(outcome: "healthy" | "fetched", damage: string): RepairPartitionReply {
    return { outcome, offsets: "proven", nextOffset: this.#options.group.openPartition.nextOffset, damage };
  }

  /**
   * The first damage: why the partition does not take part, or what a look at all of its files finds.
   * @throws CodedError for what no other node's files mend
   */
  async #findDamage(): Promise<string | undefined> {
    const { group } = this.#options;
    const { fault } = group;
    if (fault?.code === ErrorCode.PartitionDamaged) return fault.message;
    if (fault !== undefined) {
      const text = `Only damage is repaired; the partition refuses writes because of: ${fault.message}`;
      throw new CodedError(fault.code, `${text} Mend the disk and start the node again.`, { cause: fault });
    }
    const hidden = group.openPartition.offsetsFault;
    if (hidden !== undefined) return hidden.message;
    let from: VerifyCursor | undefined = VERIFY_FROM_START;
    while (from !== undefined) {
      const { damages, next } = await verifyPartition(group, { from, lengthMax: VERIFY_LENGTH });
      const [damage] = damages;
      if (damage !== undefined)
        return `${damage.path} is damaged at position ${damage.position} (${damage.kind}).`;
      from = next;
      await this.#pause();
    }
    return undefined;
  }

  /** The other nodes of the latest view. @throws CodedError when they could not go on without this one */
  async #othersThatGoOn(): Promise<readonly number[]> {
    const { group, shared } = this.#options;
    const { replica: own, replicaCount } = shared.peersOf(group.identity).options;
    const standings = await shared.standingsIn(group.identity);
    const normal = [...standings.entries()].filter(
      (entry): entry is [number, GroupStanding] => entry[0] !== own && entry[1]?.status === "normal",
    );
    const view = Math.max(
      group.isPrimary ? (group.replica?.view ?? 0) : 0,
      ...normal.map(([, one]) => one.view),
    );
    const others = normal.filter(([, one]) => one.view === view).sort(([, a], [, b]) => b.op - a.op);
    const leader = view % replicaCount;
    const isLed = leader === own ? group.isPrimary : others.some(([replica]) => replica === leader);
    const needed = quorums(replicaCount).replication;
    if (!isLed || others.length < needed) throw tooFew({ needed, found: isLed ? others.length : 0 });
    return others.map(([replica]) => replica);
  }

  /**
   * Has the state fetched until it is in place and the replica takes part: a replica that was started a
   * moment ago may not know the log of the view yet, and one in another view asks for the state again.
   * @throws CodedError when nothing comes of it
   */
  async #fetch(others: readonly number[]): Promise<void> {
    const { group, clock } = this.#options;
    const before = this.#replication.installedCount;
    const mayGoOn = this.#whileSomethingComes(others.length);
    let idleSinceMs = clock.monotonicMs();
    for (; this.#replication.installedCount === before; await this.#pause()) {
      mayGoOn();
      if (group.replica?.stateAwaited !== undefined) idleSinceMs = clock.monotonicMs();
      else if (clock.monotonicMs() - idleSinceMs >= READY_MAX_MS) throw busy();
      else if (group.isPrimary) await this.#handOver(others);
      else await this.#replication.refetch();
    }
    for (; group.replica?.status !== "normal"; await this.#pause()) {
      if (group.fault !== undefined) throw group.fault;
    }
  }

  /** A look at the transfers, which throws when nothing comes of them: the others may be damaged too. */
  #whileSomethingComes(othersCount: number): () => void {
    const { group, clock, shared } = this.#options;
    let last = shared.fetchProgress(group);
    const failedMax = last.failed + FAILURES_MAX * othersCount;
    let lastMs = clock.monotonicMs();
    return () => {
      const now = shared.fetchProgress(group);
      const nowMs = clock.monotonicMs();
      if (now.length !== last.length || now.failed !== last.failed) lastMs = nowMs;
      last = now;
      const isOver = now.failed >= failedMax || nowMs - lastMs >= STALLED_MAX_MS;
      if (!isOver || this.#replication.isReplacing) return;
      this.#replication.giveUpRefetch();
      throw noGoodState(now.reason);
    };
  }

  /** @throws CodedError when nobody takes over */
  async #handOver(others: readonly number[]): Promise<void> {
    const { group, clock } = this.#options;
    const endMs = clock.monotonicMs() + HAND_OVER_MAX_MS;
    let nextMs = 0;
    for (let tries = 0; !isLedElsewhere(group); await this.#pause()) {
      const nowMs = clock.monotonicMs();
      if (nowMs >= endMs) throw stillLeads();
      if (nowMs < nextMs) continue;
      nextMs = nowMs + HAND_OVER_MAX_MS / 10;
      this.#replication.hear({ kind: "yield", to: others[tries % others.length] ?? 0 });
      tries += 1;
    }
  }

  /** @throws CodedError when the partition goes away meanwhile */
  async #pause(): Promise<void> {
    const { clock, group } = this.#options;
    if (group.isClosed || group.replication?.isNodeStopped === true) throw stopped();
    await new Promise<void>((resolve) => void clock.setTimer(LOOK_MS, resolve));
  }
}

function isLedElsewhere({ replica }: PartitionGroup): boolean {
  return replica?.status === "normal" && !replica.isPrimary;
}

function tooFew({ needed, found }: { readonly needed: number; readonly found: number }): CodedError {
  const text =
    `Nothing was repaired: ${needed} other nodes have to be in the partition's group without this one, and ` +
    `${found} are. See "millrace cluster status --partitions", start those that are missing, and try again.`;
  return new CodedError(ErrorCode.PartitionDamaged, text, { details: { needed, found } });
}

function stillLeads(): CodedError {
  const text =
    "Nothing was repaired: this node leads the partition and could not hand it over. Try again, or stop " +
    "this node until another one leads.";
  return new CodedError(ErrorCode.TransientNotAccepted, text);
}

function busy(): CodedError {
  const text = "Nothing was repaired: the replica is not ready just now. Try again.";
  return new CodedError(ErrorCode.TransientNotAccepted, text);
}

function noGoodState(reason: CodedError | undefined): CodedError {
  if (reason?.code === ErrorCode.DiskFull) return noRoom(reason);
  const last = reason === undefined ? "none of them gave it" : `the last one was refused: ${reason.message}`;
  const text =
    `Nothing was repaired: the other nodes have no good state of the partition just now; ${last} See "millrace ` +
    `topic verify" and the logs on them. A replica that takes part goes on with what it has; one that was ` +
    "silent goes on asking for a state.";
  return new CodedError(ErrorCode.PartitionDamaged, text, { cause: reason });
}

function noRoom(reason: CodedError): CodedError {
  const text =
    "Nothing was repaired: the disk of this node has to hold the partition a second time for a while. " +
    `${reason.message} A replica that takes part goes on with what it has; one that was silent goes on asking.`;
  return new CodedError(ErrorCode.DiskFull, text, { cause: reason });
}

function stopped(): CodedError {
  return new CodedError(ErrorCode.ShuttingDown, "The partition is not served any more.");
}
