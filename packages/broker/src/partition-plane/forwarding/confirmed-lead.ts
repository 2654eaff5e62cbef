import type { Clock } from "@millrace/platform";
import { Fifo } from "../../queues/fifo.ts";
import type { PartitionGroup } from "../partition-group.ts";
import type { ForwardWindow } from "./forward-window.ts";

/** Groups for which replicas are asked at once, so that a topic of many partitions leaves room for others. */
const ROUNDS_MAX = 64;

/** Takes whether this node still led the group after it was asked; called once. */
export type LeadDone = (isConfirmed: boolean) => void;

/** What confirmations work with. */
export interface ConfirmedLeadsOptions {
  readonly clock: Clock;
  readonly window: Pick<ForwardWindow, "begin" | "end">;
  /** Replica ids of the other nodes. */
  readonly others: readonly number[];
  /** Replicas, this one counted, without whose knowledge no view begins: a replication quorum. */
  readonly quorum: number;
  /** Milliseconds after which whoever waits for his turn hears that nobody knows. */
  readonly timeoutMs: number;
  /**
   * Asks another replica whether it is in the view that this one leads; `heard` is called once, perhaps at
   * once, and not after `forget` was called with the number that this returns.
   */
  ask(to: number, group: PartitionGroup, heard: LeadDone): number;
  forget(call: number): void;
}

/**
 * Whether this node leads a group at a moment after somebody asked: what it does not know of was not
 * committed by then.
 *
 * A replica that leads its view may have been passed by the others without having heard of it. It asks them.
 * A replica says yes only while it takes part in that very view, and it never goes back to a view it left. A
 * view begins with a view-change quorum, which meets each replication quorum; so as long as a replication
 * quorum is in this view no later one has begun, and nothing was committed in one.
 * @see docs/adr/0069
 */
export class ConfirmedLeads {
  readonly #options: ConfirmedLeadsOptions;
  /**
   * By group those who share the next round: the one under way may have begun before they asked. Empty while
   * one is under way and nobody waits.
   */
  readonly #waiting = new Map<PartitionGroup, LeadDone[]>();
  /** Groups that somebody waits for and no round is under way for. */
  readonly #line = new Fifo<{ readonly group: PartitionGroup; readonly sinceMs: number }>();
  #roundsCount = 0;
  #isBeginning = false;

  constructor(options: ConfirmedLeadsOptions) {
    this.#options = options;
  }

  /** Asks for a group that this node leads; where there is no other replica it is confirmed at once. */
  confirm(group: PartitionGroup, done: LeadDone): void {
    if (this.#options.quorum <= 1) {
      done(isLedHere(group, group.replica?.view));
      return;
    }
    const waiting = this.#waiting.get(group);
    if (waiting !== undefined) waiting.push(done);
    else {
      this.#waiting.set(group, [done]);
      this.#standInLine(group);
    }
  }

  #standInLine(group: PartitionGroup): void {
    this.#line.push({ group, sinceMs: this.#options.clock.monotonicMs() });
    this.#beginRounds();
  }

  #beginRounds(): void {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    while (this.#roundsCount < ROUNDS_MAX) {
      const next = this.#line.shift();
      if (next === undefined) break;
      this.#begin(next.group, next.sinceMs);
    }
    this.#isBeginning = false;
  }

  #begin(group: PartitionGroup, sinceMs: number): void {
    const { clock, window, timeoutMs } = this.#options;
    const askers = this.#waiting.get(group) ?? [];
    const view = group.replica?.view;
    const isLate = clock.monotonicMs() - sinceMs > timeoutMs;
    if (isLate || !isLedHere(group, view) || !window.begin(0, undefined)) {
      this.#waiting.delete(group);
      tell(askers, false);
      return;
    }
    this.#waiting.set(group, []);
    this.#roundsCount += 1;
    this.#askOthers(group, (isConfirmed) => {
      window.end(0);
      this.#roundsCount -= 1;
      if (this.#waiting.get(group)?.length === 0) this.#waiting.delete(group);
      else this.#standInLine(group);
      tell(askers, isConfirmed && isLedHere(group, view));
      this.#beginRounds();
    });
  }

  /** Calls back as soon as it is decided. */
  #askOthers(group: PartitionGroup, decided: LeadDone): void {
    const { others, quorum, ask, forget } = this.#options;
    const calls: number[] = [];
    let [confirmedCount, unheardCount, isDecided] = [1, others.length, false];
    const heard: LeadDone = (isConfirmed) => {
      if (isDecided) return;
      unheardCount -= 1;
      if (isConfirmed) confirmedCount += 1;
      if (confirmedCount < quorum && confirmedCount + unheardCount >= quorum) return;
      isDecided = true;
      for (const call of calls) forget(call);
      decided(confirmedCount >= quorum);
    };
    for (const to of others) {
      const call = ask(to, group, heard);
      if (isDecided) forget(call);
      else calls.push(call);
      if (isDecided) break;
    }
  }
}

/** True when a replica here takes part in this view of its group: no later one has begun with its help. */
export function isInView({ replica, replication }: PartitionGroup, view: number): boolean {
  return replica?.status === "normal" && replica.view === view && replication?.isStopped !== true;
}

function isLedHere(group: PartitionGroup, view: number | undefined): boolean {
  return view !== undefined && group.isPrimary && !group.isClosed && group.replica?.view === view;
}

function tell(askers: readonly LeadDone[], isConfirmed: boolean): void {
  for (const done of askers) done(isConfirmed);
}
