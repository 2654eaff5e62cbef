import type { CodedError } from "@millrace/errors";

/**
 * How a request may be repeated and whether it takes a number of its own.
 *
 * - `read`: no number, repeated freely.
 * - `metadata`: a number and a checksum; the server knows a repetition by them.
 * - `partition`: a number; the server knows a repetition by it as long as the client stays registered.
 */
export type CallKind = "read" | "metadata" | "partition";

/**
 * Calls that share a lane stay in order: while one of them waits for its repetition, later ones wait behind
 * it. A lane may also bound how many of its calls are on the wire at once.
 */
export class Lane {
  readonly inFlightMax: number;
  /** Calls that wait for their repetition. */
  held = 0;
  inFlight = 0;

  constructor(inFlightMax: number) {
    this.inFlightMax = inFlightMax;
  }

  get isOpen(): boolean {
    return this.held === 0 && this.inFlight < this.inFlightMax;
  }
}

/** One request as the layers above ask for it. */
export interface Call {
  readonly kind: CallKind;
  /** Operation byte of the header. */
  readonly operation: number;
  /** Command code; only operation 2 carries it. */
  readonly code: number;
  /** The body in parts, lent until `done`. */
  readonly body: readonly Uint8Array[];
  /** False: when the connection dies before the answer, fail with OutcomeUnknown instead of sending again. */
  readonly repeatAfterLoss: boolean;
  readonly lane?: Lane;
  /**
   * Called exactly once. The payload has no result section and is a view of the reply, good until `done`
   * returns.
   */
  readonly done: (error: CodedError | undefined, payload: Uint8Array) => void;
}

/** A call on its way: its number once it has one, and its time. */
export interface PendingCall {
  readonly call: Call;
  readonly lane: Lane | undefined;
  readonly bodyLength: number;
  /** 0 before the first transmission. */
  number: number;
  /** Checksum of the body, or 0 for none. */
  readonly checksum: bigint;
  readonly deadlineMs: number;
  /** When the server first answered "not accepted" (58) in a row; 0 for never. */
  notAcceptedSinceMs: number;
  /** How often a server answered only that it is to be sent again, since the last loss of a connection. */
  refusals: number;
  /** The latest of these answers, and when it came. */
  refusalCode: number;
  refusedMs: number;
  /** An answer was lost, or said that nobody knows yet: it may have taken effect, whatever comes later. */
  isUnsure: boolean;
  wasTransmitted: boolean;
}

/** A payload of no bytes. */
export const NO_BYTES = new Uint8Array(0);
