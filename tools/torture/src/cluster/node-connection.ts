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

/** A node that is stopped or cut off never answers; a client waits this long and tries another one. */
const ANSWER_MAX_MS = 3000;
/** Where a header says what it is, and the value of an eviction. */
const COMMAND_POSITION = 60;
const EVICTION_COMMAND = 13;
const EVICTION_REASON_POSITION = 255;

/** What a node answered: code 0 and the payload behind the result section, or a code. */
export interface NodeAnswer {
  readonly code: number;
  readonly payload: Uint8Array;
}

/**
 * One client's connection to one node, in raw frames and with one request at a time, so that a request can
 * go to another node under the number it had.
 */
export class NodeConnection {
  readonly #socket: Socket;
  readonly #client: bigint;
  #received: Buffer = Buffer.alloc(0);
  #session = 0n;
  #isOpen = true;
  #trouble = "";
  #answered: ((answer: NodeAnswer | undefined) => void) | undefined;

  private constructor(port: number, client: bigint) {
    this.#client = client;
    this.#socket = connect(port, "127.0.0.1").setNoDelay(true);
    this.#socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    this.#socket.on("error", (error) => this.close(error.message));
    this.#socket.on("close", () => this.close("the node closed the connection"));
  }

  /** Connects and logs in as root. It is closed, and says why, when the node cannot take a login now. */
  static async open(port: number, client: bigint): Promise<NodeConnection> {
    const connection = new NodeConnection(port, client);
    await connection.#login();
    return connection;
  }

  /** What ended it. */
  get trouble(): string {
    return this.#trouble;
  }

  /** False once the connection was lost. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Sends a request under a number of the client's; nothing when the connection was lost first or no answer
   * came in time. The connection is closed then.
   */
  command(name: CommandName, body: Uint8Array, number: bigint): Promise<NodeAnswer | undefined> {
    const operation = COMMAND_OPERATIONS[name];
    const code = operation === Operation.NonReplicated ? CommandCode[name] : 0;
    return this.#exchange(operation, body, { request: number, code });
  }

  close(trouble = "it was closed"): void {
    if (this.#isOpen) this.#trouble = trouble;
    this.#isOpen = false;
    this.#socket.destroy();
    this.#answered?.(undefined);
  }

  async #login(): Promise<void> {
    const sdk = { protocolVersion: PROTOCOL_VERSION, sdkName: "millrace-node", sdkVersion: "1", context: "" };
    const body = encodeLoginRegister({ ...sdk, username: "iggy", password: "iggy" });
    const answer = await this.#exchange(Operation.Register, body, { request: 0n, code: 0 });
    if (answer?.code === 0) this.#session = BigInt(decodeLoginReply(answer.payload).session);
    else this.close(`the login was answered with ${answer?.code}`);
  }

  #exchange(
    operation: number,
    body: Uint8Array,
    fields: { readonly request: bigint; readonly code: number },
  ): Promise<NodeAnswer | undefined> {
    if (!this.#isOpen) return Promise.resolve(undefined);
    const frame = new Uint8Array(HEADER_LENGTH + body.length);
    const owner = { client: this.#client, session: this.#session };
    encodeRequestHeader(frame, { length: frame.length, operation, ...owner, ...fields });
    frame.set(body, HEADER_LENGTH);
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => this.close(`no answer to ${operation} in ${ANSWER_MAX_MS} ms`),
        ANSWER_MAX_MS,
      );
      this.#answered = (answer) => {
        clearTimeout(timer);
        this.#answered = undefined;
        resolve(answer);
      };
      this.#socket.write(frame);
    });
  }

  #onData(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    if (this.#received.length < HEADER_LENGTH) return;
    const isEviction = this.#received[COMMAND_POSITION] === EVICTION_COMMAND;
    if (isEviction) {
      this.close(`an eviction for ${this.#received[EVICTION_REASON_POSITION]}`);
      return;
    }
    const header = decodeReplyHeader(this.#received.subarray(0, HEADER_LENGTH));
    if (this.#received.length < header.length) return;
    const body = new Uint8Array(this.#received.subarray(HEADER_LENGTH, header.length));
    this.#received = this.#received.subarray(header.length);
    const isFramed = header.status === 0 && body.length > 0 && hasResultSection(header.operation);
    this.#answered?.(isFramed ? decodeResultSection(body) : { code: header.status, payload: body });
  }
}
