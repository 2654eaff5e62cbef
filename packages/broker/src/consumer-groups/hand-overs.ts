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
import { placeKey } from "./poll-gates.ts";

/** Milliseconds until an op that found no room is proposed again. */
const RETRY_DELAY_MS = 100;

/** A pending revocation with the slot and the client id of the member that gives the partition up. */
export interface HandOverFacts extends PendingRevocation {
  readonly source: number;
  readonly client: bigint;
}

/** What hand-overs work with. */
export interface HandOverOptions {
  readonly clock: Clock;
  /** Milliseconds an owner may take to commit what it has polled. */
  readonly timeoutMs: number;
  submit(request: MetadataRequest): void;
  /** True while the owner has messages of the partition that it did not commit. */
  isInFlight(place: GroupPlace, handOver: HandOverFacts): boolean;
}

interface HandOver {
  readonly facts: HandOverFacts;
  readonly timer: Timer;
  isProposed: boolean;
}

/**
 * Partitions on their way from one member to another. Each ends when its owner has committed everything it
 * polled, or when its time is up: then the metadata group is asked to complete it.
 */
export class HandOvers {
  readonly #options: HandOverOptions;
  readonly #byPlace = new Map<string, Map<number, HandOver>>();
  #isStopped = false;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** Takes over what is pending in a group now: begins what is new, drops what is pending no more. */
  follow(place: GroupPlace, pending: readonly HandOverFacts[]): void {
    const before = this.#byPlace.get(placeKey(place)) ?? new Map<number, HandOver>();
    const now = new Map<number, HandOver>();
    for (const facts of pending) {
      const known = before.get(facts.partitionId);
      const isSame = known !== undefined && isSameHandOver(known.facts, facts);
      now.set(facts.partitionId, isSame ? known : this.#begin(place, facts));
      if (isSame) before.delete(facts.partitionId);
    }
    for (const { timer } of before.values()) timer.cancel();
    if (now.size === 0) this.#byPlace.delete(placeKey(place));
    else this.#byPlace.set(placeKey(place), now);
  }

  /** Completes the hand-over of a partition, if there is one, when its owner is done with it. */
  check(place: GroupPlace, partitionId: number): void {
    const handOver = this.#byPlace.get(placeKey(place))?.get(partitionId);
    if (handOver === undefined || this.#options.isInFlight(place, handOver.facts)) return;
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
    const { clock, timeoutMs } = this.#options;
    const timer = clock.setTimer(timeoutMs, () => this.#propose(place, handOver));
    const handOver: HandOver = { facts, timer, isProposed: false };
    return handOver;
  }

  #propose(place: GroupPlace, handOver: HandOver): void {
    if (handOver.isProposed || this.#isStopped) return;
    handOver.isProposed = true;
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
        if (answer.kind !== "refused" || answer.code === ErrorCode.ShuttingDown) return;
        handOver.isProposed = false;
        this.#options.clock.setTimer(RETRY_DELAY_MS, () => this.#proposeAgain(place, handOver));
      },
    });
  }

  /** Unless it was overtaken meanwhile. */
  #proposeAgain(place: GroupPlace, handOver: HandOver): void {
    const now = this.#byPlace.get(placeKey(place))?.get(handOver.facts.partitionId);
    if (now === handOver) this.#propose(place, handOver);
  }
}

function isSameHandOver(one: HandOverFacts, other: HandOverFacts): boolean {
  return one.createdAt === other.createdAt && one.source === other.source && one.target === other.target;
}
