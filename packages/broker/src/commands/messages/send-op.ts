import { ErrorCode } from "@millrace/errors";
import type { Lease } from "@millrace/framing";
import { Operation } from "@millrace/protocol";
import type { AdmittedSend } from "../../admission/check-send.ts";
import type { BatchOp, PartitionHandle } from "../../partition-plane/partition-handle.ts";
import type { OpResult } from "../../partition-plane/partition-op.ts";
import { UnsureSends } from "../../routing/unsure-sends.ts";
import type { ClientConnection } from "../../sessions/client-connection.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import { hasLeft } from "../../sessions/has-left.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";
import { refuseWithCode } from "../handler.ts";

/** A client's send on its way to a partition, which answers the request: the one object that knows both. */
export class SendOp implements BatchOp {
  readonly operation = Operation.SendMessages;
  readonly client: bigint;
  readonly request: bigint;
  readonly user: number;
  readonly isNumbered: boolean;
  readonly session: number;
  readonly batchLease: Lease;
  readonly #shard: Shard;
  readonly #clientRequest: ClientRequest;
  readonly #session: Session;
  readonly #handle: PartitionHandle;
  readonly #messagesCount: number;
  readonly #length: number;

  constructor(shard: Shard, request: ClientRequest, session: Session, send: AdmittedSend) {
    const { handle, batchLease, messagesCount } = send;
    this.client = session.client;
    this.request = request.number;
    this.user = session.user;
    this.isNumbered = session.countsRequests;
    this.session = session.session;
    this.batchLease = batchLease;
    this.#shard = shard;
    this.#clientRequest = request;
    this.#session = session;
    this.#handle = handle;
    this.#messagesCount = messagesCount;
    this.#length = batchLease.length;
  }

  get holder(): ClientConnection {
    return this.#clientRequest.connection;
  }

  get isLeft(): boolean {
    return hasLeft(this.#shard, this.holder, this.#session);
  }

  committed({ op, view, baseOffset, timestamp, isRepeated }: OpResult): void {
    if (isRepeated) this.#shard.metrics.repetitions.add(1);
    else this.#count();
    this.#session.unsureSends?.settled(this.request);
    const fields = { bodyLength: 0, op, commit: op, view, timestamp };
    this.#clientRequest.confirm(this.#handle.identity, baseOffset, fields);
  }

  failed(code: number): void {
    if (code === ErrorCode.TransientNotCommitted && this.isNumbered) this.#noteUnsure();
    refuseWithCode(this.#shard, this.#clientRequest, code);
  }

  #noteUnsure(): void {
    this.#session.unsureSends ??= new UnsureSends();
    this.#session.unsureSends.note(this.request, this.#handle.identity);
  }

  #count(): void {
    const { metrics } = this.#shard;
    metrics.messagesReceived.add(this.#messagesCount);
    metrics.bytesReceived.add(this.#length);
    metrics.totals.writtenBytes += this.#length;
  }
}
