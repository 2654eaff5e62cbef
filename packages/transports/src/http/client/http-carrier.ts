import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { decodeRequestHeader, encodeReplyHeader, HEADER_LENGTH } from "@millrace/framing";
import {
  type CommandName,
  commandByCode,
  commandByOperation,
  encodeResultSuccess,
  hasResultSection,
  Operation,
} from "@millrace/protocol";
import type { CarriedConnection, MessageCarrier } from "../../carried/carried-connection.ts";
import { disconnected } from "../../connection-lost.ts";
import type { ApiPeer } from "./api-peer.ts";
import { ApiSession } from "./api-session.ts";

interface Waiting {
  readonly messages: readonly Uint8Array[];
  readonly done: (error?: unknown) => void;
}

/**
 * Carries the messages of the binary protocol as requests of the HTTP API: each is answered before the next
 * one leaves, so they take effect in order.
 *
 * A reply with a status other than 0 holds the server's words as UTF-8 behind its header.
 */
export class HttpCarrier implements MessageCarrier {
  readonly #peer: ApiPeer;
  readonly #session: ApiSession;
  readonly #connection: CarriedConnection;
  readonly #queue: Waiting[] = [];
  #isBusy = false;
  #isPaused = false;
  #isEnding = false;
  #isGone = false;

  constructor(peer: ApiPeer, connection: CarriedConnection) {
    this.#peer = peer;
    this.#session = new ApiSession(peer);
    this.#connection = connection;
  }

  write(messages: readonly Uint8Array[], done: (error?: unknown) => void): void {
    this.#queue.push({ messages, done });
    this.#pump();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#pump();
  }

  end(): void {
    this.#isEnding = true;
    this.#pump();
  }

  abort(): void {
    this.#leave(undefined);
  }

  #pump(): void {
    if (this.#isBusy || this.#isPaused || this.#isGone) return;
    const next = this.#queue.shift();
    if (next !== undefined) void this.#serve(next);
    else if (this.#isEnding) this.#leave(undefined);
  }

  /** Never rejects. */
  async #serve({ messages, done }: Waiting): Promise<void> {
    this.#isBusy = true;
    try {
      for (const message of messages) {
        const reply = await replyTo(message, this.#session);
        if (this.#isGone) return;
        this.#connection.received(reply);
        this.#connection.readEnded();
      }
      done();
    } catch (error) {
      this.#leave(isCodedError(error, ErrorCode.Disconnected) ? error : disconnected(error));
    }
    this.#isBusy = false;
    this.#pump();
  }

  #leave(error: CodedError | undefined): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#peer.close();
    queueMicrotask(() => this.#connection.closed(error));
  }
}

async function replyTo(message: Uint8Array, session: ApiSession): Promise<Uint8Array> {
  const { operation, code } = decodeRequestHeader(message);
  const body = message.subarray(HEADER_LENGTH);
  try {
    const payload = await session.answer(commandOf(operation, code), body);
    return reply(message, hasResultSection(operation) ? encodeResultSuccess(payload) : payload, 0);
  } catch (error) {
    if (!isCodedError(error) || error.code === ErrorCode.Disconnected) throw error;
    return reply(message, new TextEncoder().encode(error.message), error.code);
  }
}

function commandOf(operation: number, code: number): CommandName {
  const command = operation === Operation.NonReplicated ? commandByCode(code) : commandByOperation(operation);
  if (command !== undefined) return command.name;
  throw new CodedError(ErrorCode.InvalidCommand, `No command has operation ${operation} and code ${code}.`);
}

function reply(request: Uint8Array, body: Uint8Array, status: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_LENGTH + body.length);
  encodeReplyHeader(bytes, request, { bodyLength: body.length, status });
  bytes.set(body, HEADER_LENGTH);
  return bytes;
}
