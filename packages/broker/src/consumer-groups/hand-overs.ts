import { ErrorCode } from "@millrace/errors";
import {
  encodeCompleteRevocationOp,
  type GroupPlace,
  MetadataOperation,
  type PendingRevocation,
} from "@millrace/metadata";
import type { Clock, Timer } from "@millrace/platform";
import { SERVER_CLIENT } from "@millrace/vsr";
import type { MetadataRequest } from "../metadata-plane/metadata-request.ts";
import { Fifo } from "../queues/fifo.ts";
import { placeKey } from "./poll-gates.ts";

/**
 * Proposals of one node that are under way at once: a quarter of what the metadata group takes by default. A
 * join may make a thousand hand-overs that all are done at once, and other requests shall have room beside.
 */
const PROPOSED_MAX = 8;

/** Milliseconds until an op that found no room is proposed again. */
const RETRY_DELAY_MS = 100;

/**
 * Milliseconds between two looks of a node of a cluster: an offset that was stored through another one takes
 * effect here without a word.
 */
const LOOK_INTERVAL_MS = 100;

/** A pending revocation with the slot and the client id of the member that gives the partition up. */
export interface HandOverFacts extends PendingRevocation {
  readonly source: number;
  readonly client: bigint;
}

/** What a node of a cluster knows of members and of itself. */
export interface MembersNode {
  /** True while the client is connected to this node. */
  isConnected(client: bigint): boolean;
  /** True while another connection to this node polls for the client. */
  isAttached(client: bigint): boolean;
  /** True while this node decides that a hand-over has taken too long. */
  isPrimary(): boolean;
}

/** What hand-overs work with. */
export interface HandOverOptions {
  readonly clock: Clock;
  /** Milliseconds an owner may take to commit what it has polled. */
  readonly timeoutMs: number;
  submit(request: MetadataRequest): void;
  /** True while the owner has messages of the partition that it did not commit, or may have elsewhere. */
  mayBeInFlight(place: GroupPlace, handOver: HandOverFacts): boolean;
  /** Given where owners may be connected to other nodes. */
  readonly cluster?: Pick<MembersNode, "isPrimary"> | undefined;
}

interface HandOver {
  readonly facts: HandOverFacts;
  /** Its time is up then; on a node of a cluster the next look. */
  timer: Timer;
  isProposed: boolean;
}

/**
 * Partitions on their way from one member to another. Each ends when its owner has committed everything it
 * polled, or when its time is up: then the metadata group is asked to complete it.
 *
 * In a cluster every node follows them. The one that the owner is connected to knows when it is done; that
 * the time is up is said by the metadata group's primary.
 */
export class HandOvers {
  readonly #options: HandOverOptions;
  readonly #byPlace = new Map<string, Map<number, HandOver>>();
  /** Done, and to be proposed when it is their turn. */
  readonly #due = new Fifo<{ readonly place: GroupPlace; readonly handOver: HandOver }>();
  #proposedCount = 0;
  #isStopped = false;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /**
   * Takes over what is pending in a group now: begins what is new, drops what is pending no more.
   * @returns what is new
   */
  follow(place: GroupPlace, pending: readonly HandOverFacts[]): readonly HandOverFacts[] {
    const before = this.#byPlace.get(placeKey(place)) ?? new Map<number, HandOver>();
    const now = new Map<number, HandOver>();
    const begun: HandOverFacts[] = [];
    for (const facts of pending) {
      const known = before.get(facts.partitionId);
      const isSame = known !== undefined && isSameHandOver(known.facts, facts);
      now.set(facts.partitionId, isSame ? known : this.#begin(place, facts));
      if (isSame) before.delete(facts.partitionId);
      else begun.push(facts);
    }
    for (const { timer } of before.values()) timer.cancel();
    if (now.size === 0) this.#byPlace.delete(placeKey(place));
    else this.#byPlace.set(placeKey(place), now);
    return begun;
  }

  /** Completes the hand-over of a partition, if there is one, when its owner is done with it. */
  check(place: GroupPlace, partitionId: number): void {
    const handOver = this.#byPlace.get(placeKey(place))?.get(partitionId);
    if (handOver === undefined || this.#options.mayBeInFlight(place, handOver.facts)) return;
    this.#propose(place, handOver);
  }

  stop(): void {
    this.#isStopped = true;
    for (const handOvers of this.#byPlace.values()) {
      for (const { timer } of handOvers.values()) timer.cancel();
    }
    this.#byPlace.clear();
  }

  #begin(place: GroupPlace, facts: HandOverFacts): HandOver {
    const { clock, timeoutMs, cluster } = this.#options;
    const endMs = clock.monotonicMs() + timeoutMs;
    const end = () => {
      const isOver = clock.monotonicMs() >= endMs;
      if (cluster === undefined || (isOver && cluster.isPrimary())) this.#propose(place, handOver);
      else this.check(place, facts.partitionId);
      if (cluster !== undefined) handOver.timer = clock.setTimer(LOOK_INTERVAL_MS, end);
    };
    const firstMs = cluster === undefined ? timeoutMs : Math.min(LOOK_INTERVAL_MS, timeoutMs);
    const handOver: HandOver = { facts, timer: clock.setTimer(firstMs, end), isProposed: false };
    return handOver;
  }

  #propose(place: GroupPlace, handOver: HandOver): void {
    if (handOver.isProposed || this.#isStopped) return;
    handOver.isProposed = true;
    this.#due.push({ place, handOver });
    this.#proposeDue();
  }

  #proposeDue(): void {
    while (this.#proposedCount < PROPOSED_MAX) {
      const due = this.#due.shift();
      if (due === undefined) return;
      if (this.#isPending(due.place, due.handOver)) this.#submit(due.place, due.handOver);
    }
  }

  #submit(place: GroupPlace, handOver: HandOver): void {
    this.#proposedCount += 1;
    const { partitionId, source, target, createdAt } = handOver.facts;
    this.#options.submit({
      client: SERVER_CLIENT,
      session: 0,
      request: 0n,
      operation: MetadataOperation.completeConsumerGroupRevocation,
      user: 0,
      body: encodeCompleteRevocationOp({ ...place, partitionId, source, target, createdAt }),
      bodyChecksum: 0n,
      answered: (answer) => {
        this.#proposedCount -= 1;
        this.#proposeDue();
        if (answer.kind !== "refused" || answer.code === ErrorCode.ShuttingDown) return;
        handOver.isProposed = false;
        this.#options.clock.setTimer(RETRY_DELAY_MS, () => this.#proposeAgain(place, handOver));
      },
    });
  }

  #proposeAgain(place: GroupPlace, handOver: HandOver): void {
    if (this.#isPending(place, handOver)) this.#propose(place, handOver);
  }

  /** False once it was completed or overtaken. */
  #isPending(place: GroupPlace, handOver: HandOver): boolean {
    return this.#byPlace.get(placeKey(place))?.get(handOver.facts.partitionId) === handOver;
  }
}

function isSameHandOver(one: HandOverFacts, other: HandOverFacts): boolean {
  return one.createdAt === other.createdAt && one.source === other.source && one.target === other.target;
}
