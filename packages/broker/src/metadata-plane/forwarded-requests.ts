import type { Clock } from "@millrace/platform";
import { ForwardedCalls } from "../cluster/forwarded-calls.ts";
import type { MetadataAnswer, MetadataRequest } from "./metadata-request.ts";

/**
 * Requests that are on their way to the primary at once, and bytes after which no further one is: an eighth
 * of the 4096 frames that may wait for a node and of their 128 MiB, so that with the writes to partitions,
 * which have a quarter and a half, consensus keeps the rest. A connection has one such request at a time.
 */
const ON_THEIR_WAY_MAX = 512;
const LENGTH_MAX = 16 * 1024 * 1024;

/** A request on its way to the primary. `id` is the sender's. */
export interface ForwardedRequest extends Omit<MetadataRequest, "answered" | "isWanted"> {
  readonly id: number;
}

/** What the primary says to it. */
export interface ForwardedAnswer {
  readonly id: number;
  readonly answer: MetadataAnswer;
}

/** The way of forwarded requests and answers to another node; both may be lost. */
export interface ForwardingWire {
  /** False when there was no way or no room: then it was not sent. */
  sendRequest(to: number, request: ForwardedRequest): boolean;
  sendAnswer(to: number, answer: ForwardedAnswer): void;
}

/** What forwarding works with. */
export interface ForwardedRequestsOptions {
  readonly clock: Clock;
  readonly wire: ForwardingWire;
  /** Milliseconds until a request without an answer is told that nobody knows what became of it. */
  readonly timeoutMs: number;
  /** See `ForwardedCallsOptions`. */
  readonly seed: number;
  /** Last op that was executed here. */
  commit(): number;
  /** Asks the group on this node; refuses with 58 where it is not the primary's. */
  submitHere(request: MetadataRequest): void;
  /** Called when there is room for another request again. */
  onRoom(): void;
  /** Tells a node what is committed, ahead of the next broadcast: it waits to execute it. */
  tellCommit(to: number): void;
}

/**
 * Requests that a backup passes on to the primary of the metadata group, and those it is passed, see
 * `ForwardedCalls`.
 */
export class ForwardedRequests {
  readonly #options: ForwardedRequestsOptions;
  readonly #calls: ForwardedCalls<MetadataAnswer>;
  /** Bytes of the bodies on their way. */
  #length = 0;

  constructor(options: ForwardedRequestsOptions) {
    this.#options = options;
    this.#calls = new ForwardedCalls(options);
  }

  /**
   * False while so much is on its way that no more is passed on: what comes waits, for as long as for room in
   * the pipeline of a primary, and is then refused with 58.
   */
  get hasRoom(): boolean {
    return this.#calls.count < ON_THEIR_WAY_MAX && this.#length < LENGTH_MAX;
  }

  /** Passes a request on; it is answered once. Only while there is room. */
  forward(to: number, request: MetadataRequest): void {
    const { answered, isWanted: _, ...facts } = request;
    const { length } = request.body;
    const end = (answer: MetadataAnswer) => {
      this.#length -= length;
      answered(answer);
      this.#options.onRoom();
    };
    this.#length += length;
    this.#calls.ask({
      to,
      send: (id) => this.#options.wire.sendRequest(to, { ...facts, id }),
      answered: end,
      failed: (code) => end({ kind: "refused", code }),
    });
  }

  /** A request that another node passes on. */
  onRequest(from: number, { id, ...request }: ForwardedRequest): void {
    const { wire, submitHere, tellCommit } = this.#options;
    const answered = (answer: MetadataAnswer) => {
      if (answer.kind === "reply") tellCommit(from);
      wire.sendAnswer(from, { id, answer });
    };
    submitHere({ ...request, answered });
  }

  /** What the primary says to a request that was passed on to it. */
  onAnswer(from: number, said: ForwardedAnswer): void {
    const op = said.answer.kind === "reply" ? said.answer.op : 0;
    this.#calls.onAnswer(from, said, { group: this, op, commit: this.#options.commit() });
  }

  /** An op was executed here and partitions have done their part. */
  executed(op: number): void {
    this.#calls.reached(this, op);
  }

  /** A node is gone, see `ForwardedCalls.onPeerDown`. */
  onPeerDown(peer: number): void {
    this.#calls.onPeerDown(peer);
  }

  /** Everybody who waits hears that nobody knows. */
  stop(): void {
    this.#calls.stop();
  }
}
