import { ErrorCode } from "@millrace/errors";
import type { Clock, Timer } from "@millrace/platform";

/** How a call to another node ends: exactly one of both is called, once. */
export interface CallOutcome<Answer> {
  answered(answer: Answer): void;
  /** Codes: 57 nobody knows what became of it, 58 it never left this node. */
  failed(code: number): void;
}

/** What a call is about. */
export interface Call<Answer> extends CallOutcome<Answer> {
  /** The node that is asked. */
  readonly to: number;
  /** Milliseconds until it is given up, where that is not as long as all others. */
  readonly timeoutMs?: number;
  /** Sends the question under a number; false when it was not taken. */
  send(id: number): boolean;
}

interface Waiting<Answer> {
  readonly call: Call<Answer>;
  readonly timer: Timer;
  /** Its group, once the answer came and waits for its op to take effect here. */
  heldFor: object | undefined;
}

interface Held {
  readonly id: number;
  readonly op: number;
  answer(): void;
}

/** Numbers that a start has for itself: the answers to the one before it may still be on their way. */
const NUMBERS_PER_START = 2 ** 20;

/** How calls are numbered and how long they wait. */
export interface ForwardedCallsOptions {
  readonly clock: Clock;
  /** Milliseconds until nobody knows what became of a call. */
  readonly timeoutMs: number;
  /** A u32 that differs between two starts of a node, see `ReplicaOptions.seed`. */
  readonly seed: number;
}

/**
 * Calls of this node to others that wait for an answer.
 *
 * What answers a call of the process before this one answers none of this one's: each start counts from
 * another number.
 *
 * An answer that names an op is held until the op took effect here: whoever wrote through this node reads on
 * it what he has written. One that does not come in time, or whose node is gone, is 57, outcome unknown.
 */
export class ForwardedCalls<Answer> {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<number, Waiting<Answer>>();
  /** By group. */
  readonly #held = new Map<object, Held[]>();
  #nextId: number;

  constructor({ clock, timeoutMs, seed }: ForwardedCallsOptions) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#nextId = seed * NUMBERS_PER_START + 1;
  }

  /** Calls that wait. */
  get count(): number {
    return this.#waiting.size;
  }

  /** Asks another node; returns the number of the call. */
  ask(call: Call<Answer>): number {
    const id = this.#nextId;
    this.#nextId += 1;
    const timer = this.#clock.setTimer(call.timeoutMs ?? this.#timeoutMs, () => this.#giveUp(id));
    this.#waiting.set(id, { call, timer, heldFor: undefined });
    if (!call.send(id)) this.#end(id)?.failed(ErrorCode.TransientNotAccepted);
    return id;
  }

  /** Nobody waits for this call any more, whose answer names no op: it is neither answered nor failed. */
  forget(id: number): void {
    this.#end(id);
  }

  /**
   * An answer came.
   * @param until.op     0 for one that need not be held
   * @param until.commit  last op of the group that took effect here
   */
  onAnswer(
    from: number,
    said: { readonly id: number; readonly answer: Answer },
    until: { readonly group: object; readonly op: number; readonly commit: number },
  ): void {
    const { id, answer } = said;
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || waiting.heldFor !== undefined || waiting.call.to !== from) return;
    const end = () => this.#end(id)?.answered(answer);
    if (until.op <= until.commit) end();
    else {
      waiting.heldFor = until.group;
      this.#hold(until.group, { id, op: until.op, answer: end });
    }
  }

  /** Ops of a group up to this one took effect here. */
  reached(group: object, op: number): void {
    const held = this.#held.get(group);
    if (held === undefined) return;
    const due = held.filter((one) => one.op <= op);
    if (due.length > 0)
      this.#keep(
        group,
        held.filter((one) => one.op > op),
      );
    for (const { answer } of due) answer();
  }

  /** A node is gone: nobody knows what became of what it was asked and has not answered. */
  onPeerDown(peer: number): void {
    for (const [id, { call, heldFor }] of [...this.#waiting]) {
      if (call.to === peer && heldFor === undefined) this.#giveUp(id);
    }
  }

  /** Everybody who waits hears that nobody knows. */
  stop(): void {
    for (const id of [...this.#waiting.keys()]) this.#giveUp(id);
    this.#held.clear();
  }

  #hold(group: object, held: Held): void {
    const others = this.#held.get(group);
    if (others === undefined) this.#held.set(group, [held]);
    else others.push(held);
  }

  #keep(group: object, held: Held[]): void {
    if (held.length === 0) this.#held.delete(group);
    else this.#held.set(group, held);
  }

  #giveUp(id: number): void {
    const heldFor = this.#waiting.get(id)?.heldFor;
    const held = heldFor && this.#held.get(heldFor);
    if (heldFor !== undefined && held !== undefined) {
      this.#keep(
        heldFor,
        held.filter((one) => one.id !== id),
      );
    }
    this.#end(id)?.failed(ErrorCode.TransientNotCommitted);
  }

  #end(id: number): CallOutcome<Answer> | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.timer.cancel();
    return waiting?.call;
  }
}
