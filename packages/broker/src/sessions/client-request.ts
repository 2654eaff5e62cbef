import { assert } from "@millrace/errors";
import {
  codeAt,
  decodeRequestHeader,
  encodeEvictionHeader,
  encodeReplyHeader,
  HEADER_LENGTH,
  type Lease,
  operationAt,
  requestHighAt,
  requestLowAt,
} from "@millrace/framing";
import { Operation, oldestAcceptedVersion, PROTOCOL_VERSION } from "@millrace/protocol";
import type { ExpectedReply } from "../replies/reply-queue.ts";
import type { ClientConnection } from "./client-connection.ts";

/**
 * What a reply header says besides what it echoes; see `encodeReplyHeader`. Made for one answer, which fills
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
  #header: Uint8Array | undefined = undefined;
  #releaseBody: (() => void) | undefined = undefined;

  /** @param messageLease  header and body of one message; retained here */
  constructor(connection: ClientConnection, messageLease: Lease) {
    messageLease.retain();
    this.connection = connection;
    this.#messageLease = messageLease;
    this.operation = operationAt(messageLease.view, 0);
    this.code = this.operation === Operation.NonReplicated ? codeAt(messageLease.view, 0) : 0;
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
    const { view } = this.#messageLease;
    const high = requestHighAt(view, 0);
    const low = BigInt(requestLowAt(view, 0));
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
    const header = this.connection.takeHeader();
    encodeReplyHeader(header, this.#messageLease.bytes, fields);
    this.#settle(header, body, release);
  }

  /** Answers with an error code in the header's status and no body. */
  refuse(code: number, fields: ReplyFields = { bodyLength: 0 }): void {
    this.answer(NOTHING, { ...fields, status: code });
  }

  /** Answers with an eviction frame; the connection closes once it is written. */
  evict(reason: number, options: { client: bigint; versionWindow?: boolean }): void {
    const header = this.connection.takeHeader();
    encodeEvictionHeader(header, {
      client: options.client,
      reason,
      serverProtocolVersion: options.versionWindow === true ? PROTOCOL_VERSION : 0,
      serverProtocolVersionMin: options.versionWindow === true ? oldestAcceptedVersion(PROTOCOL_VERSION) : 0,
    });
    this.isLast = true;
    this.#settle(header, NOTHING, undefined);
  }

  /** The request is dropped unanswered, because its connection ended before its turn. */
  abandon(): void {
    assert(this.parts === undefined, "an abandoned request has no answer");
    this.#messageLease.release();
  }

  onWritten(): void {
    if (this.#header !== undefined) this.connection.giveHeader(this.#header);
    this.#header = undefined;
    this.#releaseBody?.();
    this.#releaseBody = undefined;
  }

  #settle(header: Uint8Array, body: readonly Uint8Array[], release: (() => void) | undefined): void {
    assert(this.parts === undefined, "a request is answered once");
    this.#header = header;
    this.#releaseBody = release;
    this.parts = [header, ...body];
    this.#messageLease.release();
    this.connection.answered(this);
  }
}
