import type { CodedError } from "@millrace/errors";
import type { Lease } from "@millrace/framing";
import type { Clock, Connection, VouchedUser } from "@millrace/platform";
import type { SendRoute } from "../admission/send-route.ts";
import { EvictionNotice } from "../evictions/eviction-notice.ts";
import { Fifo } from "../queues/fifo.ts";
import { ReplyQueue, type ReplyTotal } from "../replies/reply-queue.ts";
import type { ReplySlot, ReplySlots } from "../replies/reply-slots.ts";
import { ClientRequest } from "./client-request.ts";
import type { Session } from "./session.ts";

/** Bounds of one connection, see `BrokerConfig`. */
export interface ConnectionLimits {
  /** Requests received and not answered; beyond it the socket is paused. */
  readonly requestsInFlightMax: number;
  /** Bytes of replies not written yet; beyond it no further request begins. */
  readonly repliesLengthMax: number;
  /** The same of all connections together; beyond it only those that owe few bytes go on. */
  readonly allRepliesLengthMax: number;
  readonly messageLengthMax: number;
  /** Longest message before login. */
  readonly strangerMessageLengthMax: number;
}

/** Requests in flight before login: a client has one, and what it sends early holds memory others need. */
const STRANGER_REQUESTS_MAX = 8;
/**
 * Bytes of unwritten replies that every connection may have, and all that one may have before login: 64
 * replies to pings. With the 16 384 connections a server takes that is 256 MiB.
 */
const REPLIES_LENGTH_ALWAYS = 16_384;
/**
 * Bytes of a reply that is always made, however much waits to be written on other connections: one for each
 * of 16 384 connections is 1 GiB.
 */
export const REPLY_LENGTH_ALWAYS = 65_536;

/** What a connection needs from the broker that accepted it. */
export interface ConnectionHost {
  readonly clock: Clock;
  readonly replySlots: ReplySlots;
  readonly limits: ConnectionLimits;
  /** Counts the unwritten replies of all connections. */
  readonly allReplies: ReplyTotal;
  /** Carries out one request; it may be answered within the call. */
  begin(request: ClientRequest): void;
  /** Called once, when the connection is gone. */
  ended(connection: ClientConnection): void;
}

/**
 * One client's connection: its session, the order of its requests and replies, and its bounds.
 *
 * Requests begin in the order they came. Sends overlap with sends; every other request waits until all before
 * it are answered, and what follows waits for it, so a poll sees what the same connection sent before.
 */
export class ClientConnection {
  /** Number that clients see in GetMe and GetClients. */
  readonly number: number;
  readonly transport: number;
  readonly remoteAddress: string;
  /** User who needs no credentials to log in, see `Connection.vouchedUser`. */
  readonly vouchedUser: VouchedUser | undefined;
  /** See `Connection.endsWithToken`. */
  readonly endsWithToken: boolean;
  /** Where the last send went, see `SendRoute`. */
  sendRoute: SendRoute | undefined = undefined;
  #session: Session | undefined = undefined;
  /** Monotonic milliseconds of the last request. */
  lastHeardMs: number;
  readonly #connection: Connection;
  readonly #host: ConnectionHost;
  readonly #replies: ReplyQueue;
  readonly #waiting = new Fifo<ClientRequest>();
  #begunCount = 0;
  #runsAlone = false;
  #holdsCount = 0;
  #haltsCount = 0;
  #isPumping = false;
  #isPaused = false;
  #isClosing = false;
  #isEnded = false;

  constructor(options: { number: number; connection: Connection; host: ConnectionHost }) {
    this.number = options.number;
    this.#connection = options.connection;
    this.#host = options.host;
    this.transport = options.connection.transport;
    this.remoteAddress = options.connection.remoteAddress;
    this.vouchedUser = options.connection.vouchedUser;
    this.endsWithToken = options.connection.endsWithToken === true;
    this.lastHeardMs = options.host.clock.monotonicMs();
    options.connection.limitMessages?.(options.host.limits.strangerMessageLengthMax);
    this.#replies = new ReplyQueue({
      connection: options.connection,
      clock: options.host.clock,
      total: options.host.allReplies,
      onRoom: () => this.#pump(),
    });
    options.connection.onMessage = (messageLease) => this.#receive(messageLease);
    options.connection.onClose = () => this.#end();
  }

  /** Who is logged in, if anybody. */
  get session(): Session | undefined {
    return this.#session;
  }

  /**
   * Binds a session, or ends it. A stranger may not send long messages: they would hold memory others need.
   */
  set session(session: Session | undefined) {
    const { messageLengthMax, strangerMessageLengthMax } = this.#host.limits;
    this.#session = session;
    this.#connection.limitMessages?.(session === undefined ? strangerMessageLengthMax : messageLengthMax);
  }

  /** True when the client takes its replies too slowly to be waited for. */
  isStalled(nowMs: number): boolean {
    return this.#replies.isStalled(nowMs);
  }

  /** Requests received whose reply has not been handed to the transport. */
  get requestsInFlight(): number {
    return this.#waiting.count + this.#begunCount;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * True when a reply of this length may be made now: a short one always, a long one unless too much waits to
   * be written on all connections. Asked when the length is known: many may have begun while there was room.
   */
  mayOwe(length: number): boolean {
    const { limits, allReplies } = this.#host;
    return length <= REPLY_LENGTH_ALWAYS || allReplies.length <= limits.allRepliesLengthMax;
  }

  /** Counts a reply that is sure to come but not made yet; call what it returns once, before it is made. */
  reserve(length: number): () => void {
    const { allReplies } = this.#host;
    allReplies.length += length;
    return () => {
      allReplies.length -= length;
    };
  }

  takeSlot(): ReplySlot {
    return this.#host.replySlots.take();
  }

  giveSlot(slot: ReplySlot): void {
    this.#host.replySlots.give(slot);
  }

  /** Nothing further begins and the socket is paused until `unhold`; counted. */
  hold(): void {
    this.#holdsCount += 1;
    this.#regulate();
  }

  unhold(): void {
    this.#holdsCount -= 1;
    this.#pump();
  }

  /**
   * Nothing further begins until `goOn`; counted. What comes is taken in as before, so that it is noticed
   * when the client leaves: behind a paused socket it is not.
   */
  halt(): void {
    this.#haltsCount += 1;
  }

  goOn(): void {
    this.#haltsCount -= 1;
    this.#pump();
  }

  /** Called by a request that has its answer. */
  answered(request: ClientRequest): void {
    this.#begunCount -= 1;
    if (!request.overlaps) this.#runsAlone = false;
    if (request.isLast) this.#dropWaiting();
    this.#replies.settle(request);
    const mayChange = this.#waiting.count > 0 || this.#isPaused || this.#isClosing || this.#owesTooMuch();
    if (mayChange) this.#pump();
  }

  /** No further request is taken; those received are answered, then the connection closes. */
  finish(): void {
    this.#isClosing = true;
    this.#closeWhenAnswered();
  }

  /**
   * Sends an eviction frame after the replies that are due, then closes. Without a session there is nobody to
   * evict.
   */
  evict(reason: number): void {
    if (this.session === undefined || this.#isClosing) return;
    const eviction = new EvictionNotice({ reason, client: this.session.client });
    this.#dropWaiting();
    this.#replies.expect(eviction);
    this.#replies.settle(eviction);
  }

  /** Closes whatever is unanswered: after writing what is queued, or at once with an error that says why. */
  close(error?: CodedError): void {
    this.#connection.close(error);
  }

  #receive(messageLease: Lease): void {
    if (this.#isClosing || this.#isEnded) return;
    this.lastHeardMs = this.#host.clock.monotonicMs();
    const request = new ClientRequest(this, messageLease);
    this.#replies.expect(request);
    this.#waiting.push(request);
    this.#pump();
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (let next = this.#waiting.peek(); next !== undefined && this.#mayBegin(next); ) {
      this.#waiting.shift();
      this.#begunCount += 1;
      this.#runsAlone = !next.overlaps;
      this.#host.begin(next);
      next = this.#waiting.peek();
    }
    this.#isPumping = false;
    this.#regulate();
    this.#closeWhenAnswered();
  }

  #mayBegin(next: ClientRequest): boolean {
    if (this.#holdsCount > 0 || this.#haltsCount > 0 || this.#owesTooMuch()) return false;
    return next.overlaps ? !this.#runsAlone : this.#begunCount === 0;
  }

  /** True while so many replies are unwritten that no further request may begin. */
  #owesTooMuch(): boolean {
    const { lengthQueued } = this.#replies;
    const { limits, allReplies } = this.#host;
    if (lengthQueued > limits.repliesLengthMax) return true;
    if (lengthQueued <= REPLIES_LENGTH_ALWAYS) return false;
    return this.#session === undefined || allReplies.length > limits.allRepliesLengthMax;
  }

  /** Pauses the socket while there is more to do than allowed, and resumes it at half of that. */
  #regulate(): void {
    if (this.#isEnded) return;
    const { requestsInFlightMax } = this.#host.limits;
    const isStranger = this.#session === undefined;
    const inFlightMax = isStranger
      ? Math.min(STRANGER_REQUESTS_MAX, requestsInFlightMax)
      : requestsInFlightMax;
    const isFull =
      this.#holdsCount > 0 ||
      this.#owesTooMuch() ||
      this.requestsInFlight >= (this.#isPaused ? inFlightMax / 2 : inFlightMax);
    if (isFull === this.#isPaused) return;
    this.#isPaused = isFull;
    if (isFull) this.#connection.pause();
    else this.#connection.resume();
  }

  #dropWaiting(): void {
    this.#isClosing = true;
    for (const request of this.#waiting.drain()) request.abandon();
  }

  #closeWhenAnswered(): void {
    if (!this.#isClosing || this.#isEnded || this.requestsInFlight > 0) return;
    if (this.#replies.lengthQueued === 0) this.#connection.close();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#dropWaiting();
    this.#replies.close();
    this.#host.ended(this);
  }
}
