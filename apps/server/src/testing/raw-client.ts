import { connect, type Socket } from "node:net";
import { decodeReplyHeader, encodeRequestHeader, HEADER_LENGTH } from "@millrace/framing";
import {
  COMMAND_OPERATIONS,
  CommandCode,
  type CommandName,
  decodeLoginReply,
  decodeResultSection,
  encodeLoginRegister,
  hasResultSection,
  Operation,
  PROTOCOL_VERSION,
} from "@millrace/protocol";

/** One answer: code 0 and the payload, a code, or an eviction's reason. */
export interface RawAnswer {
  readonly code: number;
  readonly evictionReason: number | undefined;
  readonly payload: Uint8Array;
}

const EVICTION_COMMAND = 13;

/** Speaks the protocol in raw bytes over TCP, one request at a time. */
export class RawClient {
  readonly #client: bigint;
  readonly #socket: Socket;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #received = new Uint8Array(0);
  #session = 0n;
  #number = 1n;

  /** @param client  id of the client; one of its own for whoever logs in beside another */
  constructor(port: number, client = 77n) {
    this.#client = client;
    this.#socket = connect(port, "127.0.0.1").setNoDelay(true);
    this.#chunks = this.#socket[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  }

  /** @param sdkName  "millrace-node" is one whose request numbers tell repetitions */
  async login(username: string, password: string, sdkName = "raw"): Promise<RawAnswer> {
    const sdk = { protocolVersion: PROTOCOL_VERSION, sdkName, sdkVersion: "1", context: "" };
    const body = encodeLoginRegister({ ...sdk, username, password });
    const answer = await this.#exchange(Operation.Register, body, { request: 0n });
    if (answer.payload.length > 0) this.#session = BigInt(decodeLoginReply(answer.payload).session);
    return answer;
  }

  /** @param number  of a request that is repeated, or counted by the caller */
  command(name: CommandName, body: Uint8Array = new Uint8Array(0), number?: bigint): Promise<RawAnswer> {
    const operation = COMMAND_OPERATIONS[name];
    const isDirect = operation === Operation.NonReplicated;
    const request = number ?? (isDirect ? this.#number : this.#number++);
    return this.#exchange(operation, body, { request, code: isDirect ? CommandCode[name] : 0 });
  }

  /** Writes bytes as they are. */
  write(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  close(): void {
    this.#socket.destroy();
  }

  async #exchange(
    operation: number,
    body: Uint8Array,
    header: { request: bigint; code?: number },
  ): Promise<RawAnswer> {
    const frame = new Uint8Array(HEADER_LENGTH + body.length);
    const fields = {
      length: frame.length,
      client: this.#client,
      operation,
      session: this.#session,
      ...header,
    };
    encodeRequestHeader(frame, fields);
    frame.set(body, HEADER_LENGTH);
    this.#socket.write(frame);
    const headerBytes = await this.#take(HEADER_LENGTH);
    const reply = decodeReplyHeader(headerBytes);
    const replyBody = await this.#take(reply.length - HEADER_LENGTH);
    if (headerBytes[60] === EVICTION_COMMAND) {
      return { code: 0, evictionReason: headerBytes[255], payload: replyBody };
    }
    const isFramed = reply.status === 0 && replyBody.length > 0 && hasResultSection(reply.operation);
    const result = isFramed ? decodeResultSection(replyBody) : { code: reply.status, payload: replyBody };
    return { ...result, evictionReason: undefined };
  }

  async #take(length: number): Promise<Uint8Array> {
    while (this.#received.length < length) {
      const { value, done } = await this.#chunks.next();
      if (done === true) throw new Error("the server closed the connection");
      this.#received = new Uint8Array(Buffer.concat([this.#received, value]));
    }
    const taken = this.#received.subarray(0, length);
    this.#received = this.#received.slice(length);
    return taken;
  }
}
