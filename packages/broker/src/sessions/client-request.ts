import { assert, ErrorCode } from "@millrace/errors";
import {
  codeAt,
  decodeRequestHeader,
  encodeEvictionHeader,
  HEADER_LENGTH,
  type Lease,
  operationAt,
  requestHighAt,
  requestLowAt,
  writeReplyHeader,
} from "@millrace/framing";
import type { Span } from "@millrace/platform";
import {
  Operation,
  oldestAcceptedVersion,
  PROTOCOL_VERSION,
  SEND_CONFIRMATION_REPLY_LENGTH,
  type SendConfirmation,
  writeSendConfirmationReply,
} from "@millrace/protocol";
import { outcomeOf } from "../replies/outcome.ts";
import type { ExpectedReply } from "../replies/reply-queue.ts";
import type { ReplySlot } from "../replies/reply-slots.ts";
import type { ClientConnection } from "./client-connection.ts";

/**
 * What a reply header says besides what it echoes; see `writeReplyHeader`. Made for one answer, which fills
 * in `bodyLength`: a copy per reply would cost more than the reply's header.
 */
export interface ReplyFields {
  bodyLength: number;
  readonly operation?: number;
  readonly status?: number;
  readonly op?: number;
  readonly commit?: number;
  readonly view?: number;
  /** Microseconds. Left out: the request's own is echoed. */
  readonly timestamp?: number;
}

const NOTHING: readonly Uint8Array[] = [];

/**
 * One request from its arrival until its reply is written, and the reply's place in the connection's order.
 *
 * Holds the message's lease until it is answered. Answered exactly once, by `answer`, `refuse` or `evict`.
 */
export class ClientRequest implements ExpectedReply {
  readonly connection: ClientConnection;
  readonly operation: number;
  /** Command code of a direct request, 0 for the others. */
  readonly code: number;
  /** True for requests that may run beside their like: sends, whose order their partition keeps. */
  readonly overlaps: boolean;
  parts: readonly Uint8Array[] | undefined = undefined;
  isLast = false;
  readonly #messageLease: Lease;
  #slot: ReplySlot | undefined = undefined;
  #releaseBody: (() => void) | undefined = undefined;
  #span: Span | undefined = undefined;

  /** @param messageLease  header and body of one message; retained here */
  constructor(connection: ClientConnection, messageLease: Lease) {
    messageLease.retain();
    this.connection = connection;
    this.#messageLease = messageLease;
    const { home, homePosition } = messageLease;
    this.operation = operationAt(home.view, homePosition);
    this.code = this.operation === Operation.NonReplicated ? codeAt(home.view, homePosition) : 0;
    this.overlaps = this.operation === Operation.SendMessages;
  }

  /** The body; good until the request is answered. */
  get body(): Uint8Array {
    return this.#messageLease.bytes.subarray(HEADER_LENGTH);
  }

  /** Client id of the header, u128. */
  get client(): bigint {
    return decodeRequestHeader(this.#messageLease.bytes).client;
  }

  /** Request number of the header. */
  get number(): bigint {
    const { home, homePosition } = this.#messageLease;
    const high = requestHighAt(home.view, homePosition);
    const low = BigInt(requestLowAt(home.view, homePosition));
    return high === 0 ? low : (BigInt(high) << 32n) | low;
  }

  /** Checksum the client gave for the body, 0n for none. */
  get givenChecksum(): bigint {
    return decodeRequestHeader(this.#messageLease.bytes).requestChecksum;
  }

  /** The lease of the whole message; whoever keeps a part of it past the answer retains it. */
  get messageLease(): Lease {
    return this.#messageLease;
  }

  /** Has `span` end with this request's answer; an eviction ends it with Unauthenticated. */
  follow(span: Span): void {
    this.#span = span;
  }

  /**
   * Answers with a body. `body` is lent until `release`, which is called once, after the write or when there
   * is none. Nothing in `body` may be a view into the request.
   */
  answer(
    body: readonly Uint8Array[] = NOTHING,
    fields: ReplyFields = { bodyLength: 0 },
    release?: () => void,
  ): void {
    fields.bodyLength = 0;
    for (const part of body) fields.bodyLength += part.length;
    const slot = this.#headed(fields);
    this.#span?.end(outcomeOf(fields.operation ?? this.operation, { status: fields.status, body }));
    this.#settle(slot, [slot.header, ...body], release);
  }

  /** Answers a send that begins at `baseOffset` of a partition; `fields` as for `answer`. */
  confirm(partition: Omit<SendConfirmation, "baseOffset">, baseOffset: number, fields: ReplyFields): void {
    fields.bodyLength = SEND_CONFIRMATION_REPLY_LENGTH;
    const slot = this.#headed(fields);
    writeSendConfirmationReply(slot.view, HEADER_LENGTH, partition, baseOffset);
    this.#span?.end(0);
    this.#settle(slot, [slot.confirmation], undefined);
  }

  /** Answers with an error code in the header's status and no body. */
  refuse(code: number, fields: ReplyFields = { bodyLength: 0 }): void {
    this.answer(NOTHING, { ...fields, status: code });
  }

  /** Answers with an eviction frame; the connection closes once it is written. */
  evict(reason: number, options: { client: bigint; versionWindow?: boolean }): void {
    const header = new Uint8Array(HEADER_LENGTH);
    encodeEvictionHeader(header, {
      client: options.client,
      reason,
      serverProtocolVersion: options.versionWindow === true ? PROTOCOL_VERSION : 0,
      serverProtocolVersionMin: options.versionWindow === true ? oldestAcceptedVersion(PROTOCOL_VERSION) : 0,
    });
    this.isLast = true;
    this.#span?.end(ErrorCode.Unauthenticated);
    this.#settle(undefined, [header], undefined);
  }

  /**
   * The request is dropped unanswered, because its connection ends before its turn. What leaves in its place
   * is nothing, so that an eviction behind it leaves too.
   */
  abandon(): void {
    assert(this.parts === undefined, "an abandoned request has no answer");
    this.parts = NOTHING;
    this.#messageLease.release();
  }

  onWritten(): void {
    if (this.#slot !== undefined) this.connection.giveSlot(this.#slot);
    this.#slot = undefined;
    this.#releaseBody?.();
    this.#releaseBody = undefined;
  }

  /** A slot with the reply's header in it. */
  #headed(fields: ReplyFields): ReplySlot {
    const slot = this.connection.takeSlot();
    const { home, homePosition } = this.#messageLease;
    writeReplyHeader(slot.view, home.view, homePosition, fields);
    return slot;
  }

  #settle(
    slot: ReplySlot | undefined,
    parts: readonly Uint8Array[],
    release: (() => void) | undefined,
  ): void {
    assert(this.parts === undefined, "a request is answered once");
    this.#slot = slot;
    this.#releaseBody = release;
    this.parts = parts;
    this.#messageLease.release();
    this.connection.answered(this);
  }
}
