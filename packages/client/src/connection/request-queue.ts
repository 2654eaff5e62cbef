import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { xxh3_64 } from "@millrace/framing";
import type { Clock, Timer } from "@millrace/platform";
import { type Call, Lane, NO_BYTES, type PendingCall } from "./call.ts";
import type { Link, Transmission } from "./link.ts";
import { errorOfCode, type Outcome } from "./reply-code.ts";

/**
 * Wait before a request that was answered "not committed" or "not accepted" is sent again; official
 * clients' value.
 */
const REPEAT_DELAY_MS = 50;

/** How long "not accepted" is believed to pass by itself; afterwards another node may know more. */
const NOT_ACCEPTED_MS = 2000;

/**
 * A server remembers the last 128 numbers of a client per partition and takes an older one for done. No new
 * number is given out while one this far behind is still unanswered, so that a repetition is never
 * mistaken.
 */
const NUMBER_SPREAD_MAX = 100;

/** Bounds and behaviour of a queue, see `ClientOptions`. */
export interface RequestQueueOptions {
  readonly clock: Clock;
  readonly inFlightMax: number;
  readonly requestTimeoutMs: number;
  /** False where the server does not know a repetition: then only reads are sent again. */
  readonly knowsRepetitions: boolean;
  /** The server refused a request for two seconds. True: the link is being given up for another node. */
  readonly onNotAccepted: () => boolean;
  /** The last request was answered. */
  readonly onIdle: () => void;
}

/**
 * Requests from the moment they are asked for until they are answered: those that wait for a place on the
 * wire, those in flight, and those that wait for their repetition. Survives links: what a lost link left
 * unanswered goes back to the front in its old order, under its old number.
 */
export class RequestQueue {
  readonly #options: RequestQueueOptions;
  #waiting: PendingCall[] = [];
  #repeating: PendingCall[] = [];
  readonly #inFlight = new Map<Transmission, PendingCall>();
  #link: Link | undefined;
  #repeatTimer: Timer | undefined;
  #nextNumber = 1;
  /**
   * The catalog's operations go one by one: a server answers 57 or 58 to a second one, and 59 to a late
   * first one.
   */
  readonly #metadataLane = new Lane(1);

  constructor(options: RequestQueueOptions) {
    this.#options = options;
  }

  /** Requests that are not answered yet, wherever they are. */
  get length(): number {
    return this.#waiting.length + this.#repeating.length + this.#inFlight.size;
  }

  /** The number of the next write that gets one: every write that was ever sent has a lower one. */
  get nextNumber(): number {
    return this.#nextNumber;
  }

  /** Takes one call; it leaves at once when there is a link with room. */
  add(call: Call): void {
    let bodyLength = 0;
    for (const part of call.body) bodyLength += part.length;
    this.#waiting.push({
      call,
      lane: call.kind === "metadata" ? this.#metadataLane : call.lane,
      bodyLength,
      number: 0,
      checksum: call.kind === "metadata" ? xxh3_64(joined(call.body)) : 0n,
      deadlineMs: this.#options.clock.monotonicMs() + this.#options.requestTimeoutMs,
      notAcceptedSinceMs: 0,
      refusals: 0,
      refusalCode: 0,
      refusedMs: 0,
      isUnsure: false,
      wasTransmitted: false,
    });
    this.pump();
  }

  /** Gives the queue a logged-in link. */
  attach(link: Link): void {
    this.#link = link;
    this.pump();
  }

  /** Takes the link away and puts what it left unanswered in front, or fails what must not be repeated. */
  detach(unanswered: readonly Transmission[], error: CodedError): void {
    this.#link = undefined;
    this.#repeatTimer?.cancel();
    this.#repeatTimer = undefined;
    const returning = this.#takeRepeating();
    const failing: PendingCall[] = [];
    for (const transmission of unanswered) {
      const pending = this.#inFlight.get(transmission);
      if (pending === undefined) continue;
      this.#leaveWire(transmission, pending);
      pending.isUnsure = true;
      (this.#mayReturn(pending.call) ? returning : failing).push(pending);
    }
    // Numbers grow in the order of the first transmission; reads have none of their own and sort stably
    // among them.
    this.#waiting = [...returning.sort((a, b) => a.number - b.number), ...this.#waiting];
    const isRefused = isCodedError(error, ErrorCode.TransientNotAccepted);
    if (!isRefused) for (const pending of this.#waiting) pending.refusals = 0;
    for (const pending of failing) pending.call.done(outcomeUnknown(error), NO_BYTES);
  }

  #mayReturn({ kind, repeatAfterLoss }: Call): boolean {
    return repeatAfterLoss && (kind === "read" || this.#options.knowsRepetitions);
  }

  /** Fails everything that is not answered. */
  failAll(error: CodedError): void {
    const failing = [...this.#inFlight.values(), ...this.#takeRepeating(), ...this.#waiting.splice(0)];
    for (const [transmission, pending] of this.#inFlight) this.#leaveWire(transmission, pending);
    this.#repeatTimer?.cancel();
    for (const { call } of failing) call.done(error, NO_BYTES);
  }

  /**
   * Fails what waited too long.
   *
   * @param onLinkDead  called first when one of them is in flight: the link no longer answers, and its owner
   *                    must give it up before anybody hears of it, and asks for more
   */
  expire(onLinkDead: () => void): void {
    const nowMs = this.#options.clock.monotonicMs();
    const isLate = (pending: PendingCall) => pending.deadlineMs <= nowMs;
    const late = [...this.#repeating, ...this.#waiting].filter(isLate);
    if (late.length > 0) {
      for (const pending of this.#repeating) if (isLate(pending)) release(pending);
      this.#repeating = this.#repeating.filter((pending) => !isLate(pending));
      this.#waiting = this.#waiting.filter((pending) => !isLate(pending));
    }
    let isLinkDead = false;
    for (const [transmission, pending] of this.#inFlight) {
      if (!isLate(pending)) continue;
      isLinkDead = true;
      this.#leaveWire(transmission, pending);
      late.push(pending);
    }
    if (isLinkDead) onLinkDead();
    for (const pending of late) pending.call.done(this.#timeoutOf(pending), NO_BYTES);
  }

  #timeoutOf(pending: PendingCall): CodedError {
    const { clock, requestTimeoutMs } = this.#options;
    if (pending.wasTransmitted && pending.call.kind !== "read")
      return outcomeUnknown(unanswered(requestTimeoutMs));
    const isRefused = pending.refusals > 0 && clock.monotonicMs() - pending.refusedMs < NOT_ACCEPTED_MS;
    return isRefused ? refused(pending, requestTimeoutMs) : unanswered(requestTimeoutMs);
  }

  /** Sends what may leave now, in order; calls of a held lane stay. */
  pump(): void {
    const link = this.#link;
    let index = 0;
    while (
      link !== undefined &&
      this.#link === link &&
      index < this.#waiting.length &&
      link.isWritable &&
      link.unansweredCount < this.#options.inFlightMax
    ) {
      const pending = this.#waiting[index] as PendingCall;
      if (!this.#mayLeave(pending)) {
        index += 1;
        continue;
      }
      this.#waiting.splice(index, 1);
      this.#transmit(link, pending);
    }
  }

  #mayLeave(pending: PendingCall): boolean {
    if (pending.lane !== undefined && !pending.lane.isOpen) return false;
    if (pending.call.kind !== "partition" || pending.number !== 0) return true;
    let oldest = this.#nextNumber;
    for (const { number, call } of this.#inFlight.values())
      if (call.kind !== "read") oldest = Math.min(oldest, number);
    for (const { number, call } of this.#repeating)
      if (call.kind !== "read") oldest = Math.min(oldest, number);
    return this.#nextNumber - oldest < NUMBER_SPREAD_MAX;
  }

  #leaveWire(transmission: Transmission, { lane }: PendingCall): void {
    this.#inFlight.delete(transmission);
    if (lane !== undefined) lane.inFlight -= 1;
  }

  #transmit(link: Link, pending: PendingCall): void {
    const { call } = pending;
    if (call.kind === "read") pending.number = this.#nextNumber;
    else if (pending.number === 0) pending.number = this.#nextNumber++;
    pending.wasTransmitted = true;
    const transmission: Transmission = {
      operation: call.operation,
      code: call.code,
      number: pending.number,
      checksum: pending.checksum,
      body: call.body,
      bodyLength: pending.bodyLength,
      onOutcome: (outcome) => this.#onOutcome(transmission, outcome),
    };
    this.#inFlight.set(transmission, pending);
    if (pending.lane !== undefined) pending.lane.inFlight += 1;
    link.transmit(transmission);
    link.lastSentMs = this.#options.clock.monotonicMs();
  }

  #onOutcome(transmission: Transmission, outcome: Outcome): void {
    const pending = this.#inFlight.get(transmission);
    if (pending === undefined) return;
    this.#leaveWire(transmission, pending);
    if (this.#mustRepeat(pending, outcome.code)) this.#repeatLater(pending, outcome.code);
    else if (outcome.code === 0) pending.call.done(undefined, outcome.payload);
    else pending.call.done(failureOf(pending, outcome), NO_BYTES);
    this.pump();
    if (this.length === 0) this.#options.onIdle();
  }

  #mustRepeat(pending: PendingCall, code: number): boolean {
    if (code === ErrorCode.TransientNotCommitted) {
      pending.notAcceptedSinceMs = 0;
      return true;
    }
    if (code !== ErrorCode.TransientNotAccepted) return false;
    const nowMs = this.#options.clock.monotonicMs();
    if (pending.notAcceptedSinceMs === 0) pending.notAcceptedSinceMs = nowMs;
    if (nowMs - pending.notAcceptedSinceMs < NOT_ACCEPTED_MS) return true;
    pending.notAcceptedSinceMs = 0;
    return this.#options.onNotAccepted();
  }

  #repeatLater(pending: PendingCall, code: number): void {
    pending.refusals += 1;
    pending.refusalCode = code;
    pending.refusedMs = this.#options.clock.monotonicMs();
    if (code === ErrorCode.TransientNotCommitted) pending.isUnsure = true;
    if (pending.lane !== undefined) pending.lane.held += 1;
    this.#repeating.push(pending);
    this.#repeatTimer ??= this.#options.clock.setTimer(REPEAT_DELAY_MS, () => {
      this.#repeatTimer = undefined;
      this.#waiting = [...this.#takeRepeating().sort((a, b) => a.number - b.number), ...this.#waiting];
      this.pump();
    });
  }

  #takeRepeating(): PendingCall[] {
    const taken = this.#repeating;
    this.#repeating = [];
    for (const pending of taken) release(pending);
    return taken;
  }
}

function release(pending: PendingCall): void {
  if (pending.lane !== undefined) pending.lane.held -= 1;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let position = 0;
  for (const part of parts) {
    bytes.set(part, position);
    position += part.length;
  }
  return bytes;
}

function outcomeUnknown(cause: CodedError): CodedError {
  const message =
    "No answer tells whether the request took effect: the connection died, or the server did not know. Look before you repeat it.";
  return new CodedError(ErrorCode.OutcomeUnknown, message, { cause });
}

/** A write that is not accepted now may have been before. */
function failureOf({ call, isUnsure }: PendingCall, { code, reason }: Outcome): CodedError {
  const error = errorOfCode(code, {}, reason);
  const isUnknown = isUnsure && code === ErrorCode.TransientNotAccepted && call.kind !== "read";
  return isUnknown ? outcomeUnknown(error) : error;
}

function unanswered(requestTimeoutMs: number): CodedError {
  const message = `No answer within ${requestTimeoutMs} ms. Is the server reachable? A longer requestTimeoutMs waits longer.`;
  return new CodedError(ErrorCode.RequestTimeout, message, { details: { requestTimeoutMs } });
}

/** The server was there. */
function refused({ refusals, refusalCode }: PendingCall, requestTimeoutMs: number): CodedError {
  const cause = errorOfCode(refusalCode);
  const message = `The server refused it ${refusals} times in ${requestTimeoutMs} ms. ${cause.message}`;
  return new CodedError(ErrorCode.RequestTimeout, message, { cause, details: { requestTimeoutMs } });
}
