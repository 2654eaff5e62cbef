import { CodedError, ErrorCode } from "@millrace/errors";
import type { Lease } from "@millrace/framing";
import type { Connection, TransportKind, VouchedUser } from "@millrace/platform";
import type { DeliveryTurn } from "./delivery-turn.ts";
import { eachReply, type Outcome } from "./reply.ts";

/** Replies beyond this length take time to copy and to make an answer of. */
const LONG_LENGTH = 65_536;

/** One request of a virtual connection. */
export interface PendingRequest {
  /** Header and body of one message; its hold is given away with the request. */
  readonly messageLease: Lease;
  /** Called once, with an error when the connection ended first. */
  done(outcome: Outcome | CodedError): void;
}

/**
 * A connection without a socket: requests are put in by a transport with words of its own, and replies go
 * back to whoever asked.
 *
 * The broker sees a connection like any other. Replies come in the order of the requests, so nobody needs a
 * number to match them. While the broker pauses the connection, requests wait here.
 */
export class VirtualConnection implements Connection {
  readonly transport: TransportKind;
  readonly remoteAddress: string;
  readonly vouchedUser?: VouchedUser;
  readonly endsWithToken: boolean;
  onMessage: (messageLease: Lease) => void = () => {};
  onReadEnd: () => void = () => {};
  onDrain: () => void = () => {};
  onClose: (error?: CodedError) => void = () => {};
  /** Called once, before `onClose`. */
  onEnded: () => void = () => {};
  readonly #turn: DeliveryTurn;
  readonly #deliverLater = () => this.#deliverAll();
  readonly #answerOldest = (outcome: Outcome) => this.#unanswered.shift()?.done(outcome);
  readonly #unanswered: PendingRequest[] = [];
  readonly #waiting: PendingRequest[] = [];
  #pauses = 0;
  #isEnded = false;

  /**
   * @param options.vouchedUser    user whose Register needs no credentials, see `Connection.vouchedUser`
   * @param options.endsWithToken  see `Connection.endsWithToken`
   */
  constructor(options: {
    readonly remoteAddress: string;
    readonly vouchedUser?: VouchedUser | undefined;
    readonly endsWithToken?: boolean;
    readonly turn: DeliveryTurn;
    readonly transport: TransportKind;
  }) {
    this.transport = options.transport;
    this.#turn = options.turn;
    this.endsWithToken = options.endsWithToken === true;
    this.remoteAddress = options.remoteAddress;
    if (options.vouchedUser !== undefined) this.vouchedUser = options.vouchedUser;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Requests that are not answered yet. */
  get requestsCount(): number {
    return this.#unanswered.length + this.#waiting.length;
  }

  /** Hands one request to the broker, with the others of this turn or when it takes requests again. */
  request(request: PendingRequest): void {
    if (this.#isEnded) {
      request.messageLease.release();
      request.done(gone());
      return;
    }
    this.#waiting.push(request);
    if (this.#waiting.length === 1) this.#turn.add(this.#deliverLater);
  }

  send(parts: readonly Uint8Array[], onWritten?: (error?: CodedError) => void): boolean {
    if (this.#isEnded) {
      queueMicrotask(() => onWritten?.(gone()));
      return false;
    }
    eachReply(parts, this.#answerOldest);
    // The next request begins with what this tells. After a long reply the others of the server come first.
    const tellWritten = () => onWritten?.();
    if (lengthOf(parts) > LONG_LENGTH) setImmediate(tellWritten);
    else queueMicrotask(tellWritten);
    return true;
  }

  pause(): void {
    this.#pauses++;
  }

  resume(): void {
    if (this.#pauses === 0) return;
    this.#pauses--;
    this.#deliverAll();
  }

  close(error?: CodedError): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const { messageLease } of this.#waiting) messageLease.release();
    for (const { done } of [...this.#unanswered.splice(0), ...this.#waiting.splice(0)]) done(error ?? gone());
    this.onEnded();
    queueMicrotask(() => this.onClose(error));
  }

  #deliverAll(): void {
    while (this.#pauses === 0 && !this.#isEnded) {
      const request = this.#waiting.shift();
      if (request === undefined) return;
      this.#unanswered.push(request);
      this.onMessage(request.messageLease);
      request.messageLease.release();
      if (this.#waiting.length === 0) this.onReadEnd();
    }
  }
}

function lengthOf(parts: readonly Uint8Array[]): number {
  let length = 0;
  for (const part of parts) length += part.length;
  return length;
}

/** The session is over, by logout, eviction or because the server stops: nothing of it was answered. */
function gone(): CodedError {
  return new CodedError(ErrorCode.Disconnected, "The session ended before the answer.");
}
