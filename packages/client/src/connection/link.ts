import { CodedError, ErrorCode } from "@millrace/errors";
import {
  commandAt,
  decodeEvictionHeader,
  decodeReplyHeader,
  encodeRequestHeader,
  HEADER_LENGTH,
  type Lease,
  WireCommand,
} from "@millrace/framing";
import type { Connection } from "@millrace/platform";
import { errorCodeOfEviction, Operation, unpackVersion } from "@millrace/protocol";
import { errorOfCode, type Outcome, outcomeOfReply } from "./reply-code.ts";

/** Fields of one request on the wire. */
export interface Transmission {
  readonly operation: number;
  readonly code: number;
  readonly number: number;
  readonly checksum: bigint;
  readonly body: readonly Uint8Array[];
  readonly bodyLength: number;
  /**
   * Called with the outcome unless the link was lost before; the payload is a view, good until it returns.
   */
  readonly onOutcome: (outcome: Outcome) => void;
  /** Called in place of `onOutcome` when the link is lost first, before the owner hears of it. */
  readonly onLost?: (error: CodedError) => void;
}

/** What a link tells its owner. */
export interface LinkOwner {
  /** The connection takes more again. */
  onWritable(): void;
  /** Called once, last: the connection is gone, with the requests that were not answered, in order. */
  onLost(error: CodedError, unanswered: readonly Transmission[]): void;
}

/** Replies may name the operation that was executed in place of the requested one. */
const EXECUTED_AS: ReadonlyMap<number, number> = new Map<number, number>([
  [Operation.CreateTopic, Operation.CreateTopicWithAssignments],
  [Operation.CreatePartitions, Operation.CreatePartitionsWithAssignments],
  [Operation.DeleteSegments, Operation.TruncatePartition],
]);

function versionText(packed: number): string {
  const { major, minor, patch } = unpackVersion(packed);
  return `${major}.${minor}.${patch}`;
}

/**
 * One connection with its requests in flight. The server answers each in the order of arrival, so the oldest
 * unanswered request is the one a reply belongs to; number and operation must agree, else the link is given
 * up.
 */
export class Link {
  readonly #connection: Connection;
  readonly #client: bigint;
  readonly #owner: LinkOwner;
  readonly #unanswered: Transmission[] = [];
  #session = 0n;
  #isWritable = true;
  #closeReason: CodedError | undefined;
  #isLost = false;
  #isRetired = false;
  /** When the last request left; the owner's heartbeat reads it. */
  lastSentMs = 0;

  constructor(connection: Connection, client: bigint, owner: LinkOwner) {
    this.#connection = connection;
    this.#client = client;
    this.#owner = owner;
    connection.onMessage = (lease) => this.#onMessage(lease);
    connection.onReadEnd = () => {};
    connection.onDrain = () => {
      this.#isWritable = true;
      owner.onWritable();
    };
    connection.onClose = (error) => this.#onClose(error);
  }

  /** Requests that wait for their reply. */
  get unansweredCount(): number {
    return this.#unanswered.length;
  }

  /** False while the connection asks to wait, and once it is closing. */
  get isWritable(): boolean {
    return this.#isWritable && this.isOpen;
  }

  /** False once the link is lost or on its way to be. */
  get isOpen(): boolean {
    return this.#closeReason === undefined && !this.#isLost && !this.#isRetired;
  }

  /** Sets the session every further request carries. */
  bindSession(session: bigint): void {
    this.#session = session;
  }

  /**
   * Sends one request. The body is lent until the outcome, or until the link is lost. A lost link calls
   * `onLost`.
   */
  transmit(transmission: Transmission): void {
    if (!this.isOpen) {
      const message = "The connection was lost before the request could leave.";
      transmission.onLost?.(this.#closeReason ?? new CodedError(ErrorCode.Disconnected, message));
      return;
    }
    const length = HEADER_LENGTH + transmission.bodyLength;
    const header = new Uint8Array(HEADER_LENGTH);
    encodeRequestHeader(header, {
      length,
      command: WireCommand.request,
      client: this.#client,
      requestChecksum: transmission.checksum,
      request: BigInt(transmission.number),
      operation: transmission.operation,
      session: transmission.operation === Operation.Register ? 0n : this.#session,
      code: transmission.code,
    });
    this.#unanswered.push(transmission);
    this.#isWritable = this.#connection.send([header, ...transmission.body]);
  }

  /**
   * Takes no more requests and hears of no answers; who retires it gets what was not answered, in order. The
   * connection stays open until `close`, and so does the session on the server.
   */
  retire(): readonly Transmission[] {
    this.#isRetired = true;
    return this.#unanswered.splice(0);
  }

  /** Closes after what is queued was written; with a reason at once. `onLost` follows. */
  close(reason: CodedError, isAbrupt: boolean): void {
    if (this.#closeReason !== undefined || this.#isLost) return;
    this.#closeReason = reason;
    if (isAbrupt) this.#connection.close(reason);
    else this.#connection.close();
  }

  #onMessage(lease: Lease): void {
    if (!this.isOpen) return;
    try {
      this.#takeMessage(lease);
    } catch (error) {
      const message = "The server sent bytes that are no reply; the connection was given up.";
      this.close(new CodedError(ErrorCode.InvalidCommand, message, { cause: error }), true);
    }
  }

  #takeMessage(lease: Lease): void {
    if (commandAt(lease.view, 0) === WireCommand.eviction) this.#onEviction(lease.bytes);
    else this.#onReply(lease.bytes);
  }

  #onReply(bytes: Uint8Array): void {
    const header = decodeReplyHeader(bytes);
    const oldest = this.#unanswered[0];
    if (oldest === undefined || !isAnswerTo(oldest, Number(header.request), header.operation)) {
      throw new CodedError(ErrorCode.InvalidCommand, "A reply answers no request that is in flight.");
    }
    const outcome = outcomeOfReply(header, bytes.subarray(HEADER_LENGTH));
    this.#unanswered.shift();
    oldest.onOutcome(outcome);
  }

  #onEviction(bytes: Uint8Array): void {
    const eviction = decodeEvictionHeader(bytes);
    const code = errorCodeOfEviction(eviction.reason, eviction);
    const details = { evictionReason: eviction.reason };
    if (code === ErrorCode.IncompatibleProtocolVersion) {
      const { serverProtocolVersion, serverProtocolVersionMin } = eviction;
      const range = `${versionText(serverProtocolVersionMin)} to ${versionText(serverProtocolVersion)}`;
      const message = `The server accepts protocol versions ${range}; use a client of that line.`;
      this.close(new CodedError(code, message, { details }), true);
    } else this.close(errorOfCode(code, details), true);
  }

  #onClose(error: CodedError | undefined): void {
    if (this.#isLost) return;
    this.#isLost = true;
    const where = this.#connection.remoteAddress;
    const lost = new CodedError(ErrorCode.Disconnected, `The connection to ${where} was lost.`, {
      cause: error,
    });
    const reason = this.#closeReason ?? lost;
    const unanswered = this.#unanswered.splice(0);
    for (const transmission of unanswered) transmission.onLost?.(reason);
    this.#owner.onLost(reason, unanswered);
  }
}

function isAnswerTo(request: Transmission, number: number, operation: number): boolean {
  const isSameOperation = operation === request.operation || operation === EXECUTED_AS.get(request.operation);
  return number === request.number && (isSameOperation || operation === 0);
}
