import { ErrorCode } from "@millrace/errors";
import type { Clock, Timer } from "@millrace/platform";
import type { MetadataAnswer, MetadataRequest } from "./metadata-request.ts";

/** A request on its way to the primary. `id` is the sender's. */
export interface ForwardedRequest extends Omit<MetadataRequest, "answered"> {
  readonly id: number;
}

/** What the primary says to it. */
export interface ForwardedAnswer {
  readonly id: number;
  readonly answer: MetadataAnswer;
}

/** The way of forwarded requests and answers to another node; both may be lost. */
export interface ForwardingWire {
  sendRequest(to: number, request: ForwardedRequest): void;
  sendAnswer(to: number, answer: ForwardedAnswer): void;
}

/** What forwarding works with. */
export interface ForwardedRequestsOptions {
  readonly clock: Clock;
  readonly wire: ForwardingWire;
  /** Milliseconds until a request without an answer is told that nobody knows what became of it. */
  readonly timeoutMs: number;
  /** Last op that was executed here. */
  commit(): number;
  /** Asks the group on this node; refuses with 58 where it is not the primary's. */
  submitHere(request: MetadataRequest): void;
}

interface Waiting {
  readonly request: MetadataRequest;
  readonly to: number;
  readonly timer: Timer;
}

/**
 * Requests that a backup passes on to the primary of the metadata group, and those it is passed.
 *
 * An answer is held until its op was executed here: whoever wrote reads on this node what he has written. One
 * that does not come is 57, outcome unknown: its client may ask again under the same number.
 */
export class ForwardedRequests {
  readonly #options: ForwardedRequestsOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #untilExecuted: { readonly op: number; readonly answer: () => void }[] = [];
  #nextId = 1;

  constructor(options: ForwardedRequestsOptions) {
    this.#options = options;
  }

  /** Passes a request on; it is answered once. */
  forward(to: number, request: MetadataRequest): void {
    const id = this.#nextId;
    this.#nextId += 1;
    const { clock, wire, timeoutMs } = this.#options;
    const timer = clock.setTimer(timeoutMs, () => this.#giveUp(id));
    this.#waiting.set(id, { request, to, timer });
    const { answered: _, ...facts } = request;
    wire.sendRequest(to, { ...facts, id });
  }

  /** A request that another node passes on. */
  onRequest(from: number, { id, ...request }: ForwardedRequest): void {
    const { wire } = this.#options;
    this.#options.submitHere({ ...request, answered: (answer) => wire.sendAnswer(from, { id, answer }) });
  }

  /** What the primary says to a request that was passed on to it. */
  onAnswer(from: number, { id, answer }: ForwardedAnswer): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || waiting.to !== from) return;
    const op = answer.kind === "reply" ? answer.op : 0;
    if (op <= this.#options.commit()) this.#answer(id, answer);
    else this.#untilExecuted.push({ op, answer: () => this.#answer(id, answer) });
  }

  /** An op was executed here and partitions have done their part. */
  executed(op: number): void {
    const due = this.#untilExecuted.filter((one) => one.op <= op);
    if (due.length === 0) return;
    for (const one of due) this.#untilExecuted.splice(this.#untilExecuted.indexOf(one), 1);
    for (const { answer } of due) answer();
  }

  /** A node is gone: nobody knows what became of what was passed on to it. */
  onPeerDown(peer: number): void {
    for (const [id, { to }] of [...this.#waiting]) {
      if (to === peer) this.#giveUp(id);
    }
  }

  /** Everybody who waits hears that nobody knows. */
  stop(): void {
    for (const id of [...this.#waiting.keys()]) this.#giveUp(id);
  }

  #giveUp(id: number): void {
    this.#answer(id, { kind: "refused", code: ErrorCode.TransientNotCommitted });
  }

  #answer(id: number, answer: MetadataAnswer): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    waiting.timer.cancel();
    waiting.request.answered(answer);
  }
}
