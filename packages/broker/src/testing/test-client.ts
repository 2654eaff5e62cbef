import assert from "node:assert/strict";
import {
  decodeEvictionHeader,
  decodeReplyHeader,
  type EvictionHeader,
  encodeRequestHeader,
  HEADER_LENGTH,
  type ReplyHeader,
  type RequestHeader,
} from "@millrace/framing";
import type { Connection } from "@millrace/platform";
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

/** One answer, taken apart. */
export interface Answer {
  readonly bytes: Uint8Array;
  readonly header: ReplyHeader;
  readonly eviction: EvictionHeader | undefined;
  /** Status, else the code of the result section, else 0. */
  readonly code: number;
  /** The body behind its result section. */
  readonly payload: Uint8Array;
}

/** Who logs in; `sdkName` decides whether its request numbers count. */
export interface TestLogin {
  readonly client?: bigint;
  readonly username?: string;
  readonly password?: string;
  readonly sdkName?: string;
  readonly context?: string;
}

const EVICTION_COMMAND = 13;
const EMPTY = new Uint8Array(0);

/** A client that speaks raw frames, one promise per request. */
export class TestClient {
  readonly connection: Connection;
  client = 1n;
  session = 0n;
  nextNumber = 1n;
  isClosed = false;
  readonly unexpected: Answer[] = [];
  readonly #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void }[] = [];

  constructor(connection: Connection) {
    this.connection = connection;
    connection.onMessage = (messageLease) => {
      const answer = answerOf(messageLease.bytes.slice());
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.unexpected.push(answer);
      else waiting.resolve(answer);
    };
    connection.onClose = () => {
      this.isClosed = true;
      for (const { reject } of this.#waiting.splice(0)) reject(new Error("the connection closed"));
    };
  }

  /** Sends bytes as they are and waits for the next answer. */
  exchange(frame: Uint8Array): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.connection.send([frame]);
    });
  }

  /** Sends bytes as they are and waits for nothing. */
  sendRaw(frame: Uint8Array): void {
    this.connection.send([frame]);
  }

  /** A request frame of this client's session; `header` changes what a test wants to be wrong. */
  frame(operation: number, body: Uint8Array = EMPTY, header: Partial<RequestHeader> = {}): Uint8Array {
    const frame = new Uint8Array(HEADER_LENGTH + body.length);
    encodeRequestHeader(frame, {
      length: frame.length,
      client: this.client,
      operation,
      session: this.session,
      request: this.nextNumber,
      ...header,
    });
    frame.set(body, HEADER_LENGTH);
    return frame;
  }

  /** Sends a command the way an official client does. */
  command(name: CommandName, body: Uint8Array = EMPTY, header: Partial<RequestHeader> = {}): Promise<Answer> {
    const operation = COMMAND_OPERATIONS[name];
    const isDirect = operation === Operation.NonReplicated;
    const frame = this.frame(operation, body, { code: isDirect ? CommandCode[name] : 0, ...header });
    if (!isDirect) this.nextNumber += 1n;
    return this.exchange(frame);
  }

  async login(options: TestLogin = {}): Promise<Answer> {
    this.client = options.client ?? this.client;
    const body = encodeLoginRegister({
      protocolVersion: PROTOCOL_VERSION,
      sdkName: options.sdkName ?? "test",
      sdkVersion: "1",
      username: options.username ?? "iggy",
      password: options.password ?? "iggy",
      context: options.context ?? "",
    });
    const answer = await this.command("LoginRegister", body, { session: 0n, request: 0n });
    if (answer.eviction === undefined && answer.code === 0) {
      this.session = BigInt(decodeLoginReply(answer.payload).session);
      this.nextNumber = 1n;
    }
    return answer;
  }

  /** Sends a command and expects it to succeed. */
  async ok(name: CommandName, body: Uint8Array = EMPTY): Promise<Uint8Array> {
    const answer = await this.command(name, body);
    assert.equal(answer.eviction, undefined, `${name} evicted the client`);
    assert.equal(answer.code, 0, `${name} answered ${answer.code}`);
    return answer.payload;
  }

  close(): void {
    this.connection.close();
  }
}

function answerOf(bytes: Uint8Array): Answer {
  const header = decodeReplyHeader(bytes);
  assert.equal(header.length, bytes.length, "an answer is as long as it says");
  const isEviction = bytes[60] === EVICTION_COMMAND;
  if (isEviction) {
    return { bytes, header, eviction: decodeEvictionHeader(bytes), code: 0, payload: EMPTY };
  }
  const body = bytes.subarray(HEADER_LENGTH);
  const framed = header.status === 0 && body.length > 0 && hasResultSection(header.operation);
  const result = framed ? decodeResultSection(body) : { code: header.status, payload: body };
  return { bytes, header, eviction: undefined, ...result };
}
