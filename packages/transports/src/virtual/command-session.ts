import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { encodeRequestHeader, HEADER_LENGTH, type Lease } from "@millrace/framing";
import type { Clock, Random, TransportKind } from "@millrace/platform";
import { type CommandName, decodeBody, decodeLoginReply, Operation } from "@millrace/protocol";
import type { AnswerRoom } from "./answer-room.ts";
import { commandFields } from "./command.ts";
import type { Deadlines } from "./deadlines.ts";
import type { DeliveryTurn } from "./delivery-turn.ts";
import { type Credentials, loginBody } from "./login-body.ts";
import type { Outcome } from "./reply.ts";
import type { LateAnswer, SessionFailures } from "./session-failures.ts";
import { VirtualConnection } from "./virtual-connection.ts";
import {
  type BatchRoom,
  type BatchToWrite,
  type MessageHeader,
  writeBatchMessage,
  writeMessage,
} from "./write-message.ts";
import type { WriteSlots } from "./write-slots.ts";

/** Requests of one session that are not answered; beyond it a client asks faster than it is served. */
const REQUESTS_MAX = 256;
/** How long a change of the catalog is tried again while it is answered with 57 or 58. */
const CONTROL_PATIENCE_MS = 30_000;
const CONTROL_RETRY_MS = 100;
const NO_BYTES: Uint8Array = new Uint8Array(0);
const ALWAYS = () => true;
/** How long a write or read of a partition is waited for: the patience of `SessionParts.deadlines`. */
export const PARTITION_PATIENCE_MS = 10_000;

/** What sessions are made with. */
export interface SessionParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly room: BatchRoom;
  /** Bounds what waits to be read by clients; whoever writes an answer takes room in it. */
  readonly answers: AnswerRoom;
  readonly turn: DeliveryTurn;
  readonly deadlines: Deadlines;
  readonly writeSlots: WriteSlots;
  readonly failures: SessionFailures;
  /** What carries the client's own requests. */
  readonly transport: TransportKind;
  /** Name under which the broker knows such clients. */
  readonly sdkName: string;
  readonly onConnection: (connection: VirtualConnection) => void;
}

/**
 * One client whose transport does not carry the binary protocol: a virtual connection, the session the broker
 * gave it, and its numbers.
 */
export class CommandSession {
  readonly #parts: SessionParts;
  readonly #connection: VirtualConnection;
  readonly #client: bigint;
  #session = 0n;
  #nextNumber = 1;
  /** Header of every send, but for length and number. */
  readonly #sendHeader = new Uint8Array(HEADER_LENGTH);
  #userId = -1;
  #openedAtMicros = 0;
  /** Writes of partitions somebody waits for. */
  writesInFlight = 0;
  /** Unix seconds after which no token leads here; 0 while none was handed out. */
  expiresAt = 0;

  private constructor(parts: SessionParts, connection: VirtualConnection, client: bigint) {
    this.#parts = parts;
    this.#connection = connection;
    this.#client = client;
  }

  /**
   * Registers a new session with the broker.
   * @throws what `SessionFailures` makes of the refusal
   */
  static async open(
    parts: SessionParts,
    credentials: Credentials,
    from: { readonly remoteAddress: string; readonly onEnded: (session: CommandSession) => void },
  ): Promise<CommandSession> {
    const vouchedUser = "user" in credentials ? credentials.user : undefined;
    const endsWithToken = "token" in credentials && credentials.isBearer === true;
    const connection = new VirtualConnection({
      ...from,
      vouchedUser,
      endsWithToken,
      turn: parts.turn,
      transport: parts.transport,
    });
    const session = new CommandSession(parts, connection, randomClient(parts));
    connection.onEnded = () => from.onEnded(session);
    parts.onConnection(connection);
    try {
      await session.#register(credentials);
    } catch (error) {
      connection.close();
      throw error;
    }
    return session;
  }

  get userId(): number {
    return this.#userId;
  }

  /** When the broker accepted the login, micros since the epoch. */
  get openedAtMicros(): number {
    return this.#openedAtMicros;
  }

  get isEnded(): boolean {
    return this.#connection.isEnded;
  }

  isExpired(nowSeconds: number): boolean {
    return this.expiresAt !== 0 && this.expiresAt <= nowSeconds;
  }

  /**
   * Carries out one command; resolves with the payload of its reply.
   *
   * A change of the catalog that is answered "not now" is repeated for a while, under the same number, so
   * that nothing is done twice.
   * @param isWanted  false once nobody waits for the answer: then nothing is repeated
   * @throws what `SessionFailures` makes of a refusal, a time-out, or too many requests
   */
  async ask(name: CommandName, body = NO_BYTES, isWanted = ALWAYS): Promise<Uint8Array> {
    const { operation, code, plane } = commandFields(name);
    const header = this.#header(operation, code);
    const write = () => writeMessage(header, body);
    if (plane === "metadata") return this.#payloadOf(await this.#insist(write, isWanted));
    if (plane === "partition") return this.#write(write, "offset_write");
    return this.#admitted(this.#payloadOf(await this.#exchange(write, "partition_read")));
  }

  /**
   * Polls as `body` says, and makes the answer with `make` while the messages count as waiting to be read.
   *
   * @param options.stores  true when the poll stores the offset of what it gives out: then the answer is sure
   * @throws as `ask`; the refusal with 58 while too many answers wait to be read
   */
  poll<T>(
    body: Uint8Array,
    options: { readonly stores: boolean; readonly make: (payload: Uint8Array) => T },
  ): Promise<T> {
    const { answers } = this.#parts;
    const { operation, code } = commandFields("PollMessages");
    const exchange = async (admitted: (payload: Uint8Array) => Uint8Array) => {
      if (options.stores && !answers.isOpen) throw this.#crowded();
      const header = this.#header(operation, code);
      const outcome = await this.#exchange(() => writeMessage(header, body), "partition_read");
      return options.make(admitted(this.#payloadOf(outcome)));
    };
    if (!options.stores) return exchange((payload) => this.#admitted(payload));
    return answers.surely(() => exchange((payload) => payload));
  }

  /**
   * Sends a batch; resolves with the payload of the confirmation.
   * @throws as `ask`; `tooManyWrites` when too many are awaited
   */
  send(batch: BatchToWrite): Promise<Uint8Array> {
    const request = this.#nextNumber++;
    return this.#write(() => this.#writeBatch(batch, request), "produce");
  }

  /** Sends a batch whose outcome nobody asks for. @throws as `ask` when it cannot be handed over */
  dispatch(batch: BatchToWrite): void {
    const request = this.#nextNumber++;
    this.#request(
      () => this.#writeBatch(batch, request),
      () => {},
    );
  }

  /** Ends the session with the broker and the connection with it. */
  async logout(): Promise<void> {
    try {
      await this.ask("LogoutUser");
    } finally {
      this.end();
    }
  }

  /** Ends the connection; the broker logs the session out. */
  end(): void {
    this.#connection.close();
  }

  async #register(credentials: Credentials): Promise<void> {
    const header = { client: this.#client, operation: Operation.Register };
    const body = this.#loginBody(credentials);
    const payload = this.#payloadOf(await this.#exchange(() => writeMessage(header, body)));
    const reply = decodeBody(decodeLoginReply, payload);
    this.#session = BigInt(reply.session);
    this.#userId = reply.userId;
    this.#openedAtMicros = this.#parts.clock.wallMicros();
    const operation = Operation.SendMessages;
    const fields = { length: HEADER_LENGTH, client: this.#client, session: this.#session, operation };
    encodeRequestHeader(this.#sendHeader, fields);
  }

  #writeBatch(batch: BatchToWrite, request: number): Lease | undefined {
    return writeBatchMessage(this.#parts.room, batch, { header: this.#sendHeader, request });
  }

  #loginBody(credentials: Credentials): Uint8Array {
    const { failures, sdkName } = this.#parts;
    try {
      return loginBody(credentials, sdkName);
    } catch (error) {
      throw isCodedError(error) ? failures.refused(error.code) : error;
    }
  }

  #header(operation: number, code: number): MessageHeader {
    const isNumbered = operation !== Operation.NonReplicated;
    const request = isNumbered ? this.#nextNumber++ : this.#nextNumber;
    return { client: this.#client, session: this.#session, request: BigInt(request), operation, code };
  }

  /** A write somebody waits for, in one of the slots for those; resolves with the payload of a success. */
  #write(write: () => Lease | undefined, what: LateAnswer): Promise<Uint8Array> {
    const { writeSlots, failures } = this.#parts;
    if (!writeSlots.take(this)) return Promise.reject(failures.tooManyWrites());
    return new Promise((resolve, reject) => {
      this.#start(write, what, (outcome) => {
        writeSlots.give(this);
        if (outcome instanceof Error) reject(outcome);
        else if (outcome.code !== 0) reject(failures.refused(outcome.code));
        else resolve(outcome.payload);
      });
    });
  }

  async #insist(write: () => Lease | undefined, isWanted: () => boolean): Promise<Outcome> {
    const { clock } = this.#parts;
    const deadlineMs = clock.monotonicMs() + CONTROL_PATIENCE_MS;
    for (;;) {
      const outcome = await this.#exchange(write);
      const { TransientNotAccepted, TransientNotCommitted } = ErrorCode;
      const isTransient = outcome.code === TransientNotAccepted || outcome.code === TransientNotCommitted;
      if (!isTransient || !isWanted() || clock.monotonicMs() >= deadlineMs) return outcome;
      await new Promise<void>((resolve) => void clock.setTimer(CONTROL_RETRY_MS, resolve));
    }
  }

  /** One request and its outcome, as `#start`. */
  #exchange(write: () => Lease | undefined, what?: LateAnswer): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#start(write, what, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
    });
  }

  /**
   * Starts one request; `settle` is called once, with what came of it. What may be late is waited for as long
   * as a partition may take.
   */
  #start(
    write: () => Lease | undefined,
    what: LateAnswer | undefined,
    settle: (outcome: Outcome | Error) => void,
  ): void {
    const { deadlines, failures } = this.#parts;
    const expire = (late: LateAnswer) => () => settle(failures.late(late, PARTITION_PATIENCE_MS));
    const deadline = what === undefined ? undefined : deadlines.add(expire(what));
    // When the connection ends before the answer, what became of a write is not known.
    const lost = (error: CodedError) => failures.refused(ErrorCode.TransientNotCommitted, error.message);
    const isInTime = () => deadline === undefined || deadlines.settle(deadline);
    try {
      this.#request(write, (outcome) => {
        if (isInTime()) settle(isCodedError(outcome) ? lost(outcome) : outcome);
      });
    } catch (error) {
      if (isInTime()) settle(error as Error);
    }
  }

  #request(write: () => Lease | undefined, done: (outcome: Outcome | CodedError) => void): void {
    const { failures } = this.#parts;
    if (this.#connection.requestsCount >= REQUESTS_MAX) throw failures.tooManyRequests();
    const messageLease = write();
    if (messageLease === undefined) {
      const reason = "There is no memory for the batch now.";
      throw failures.refused(ErrorCode.TransientNotAccepted, reason);
    }
    this.#connection.request({ messageLease, done });
  }

  #admitted(payload: Uint8Array): Uint8Array {
    if (!this.#parts.answers.admits(payload.length)) throw this.#crowded();
    return payload;
  }

  #crowded(): Error {
    const reason = "Too many answers wait to be read by their clients; try again.";
    return this.#parts.failures.refused(ErrorCode.TransientNotAccepted, reason);
  }

  /** The payload of a success. */
  #payloadOf({ code, payload }: Outcome): Uint8Array {
    if (code !== 0) throw this.#parts.failures.refused(code);
    return payload;
  }
}

/** A client id nobody else has: 128 random bits, never 0. */
function randomClient({ random }: SessionParts): bigint {
  const hex = Buffer.from(random.bytes(16)).toString("hex");
  return BigInt(`0x${hex}`) || 1n;
}
