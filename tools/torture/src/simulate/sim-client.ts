import { decodeReplyHeader, encodeRequestHeader, HEADER_LENGTH, type RequestHeader } from "@millrace/framing";
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
import { Violation } from "../oracle/violation.ts";

/** Where the header of an answer says what it is, and the value of an eviction. */
const COMMAND_POSITION = 60;
const EVICTION_COMMAND = 13;
/** Code of an answer that never came: the connection closed first. */
export const NO_ANSWER = -1;

/** What became of a request: its code, 0 for success, and the body behind its result section. */
export interface SimAnswer {
  readonly code: number;
  readonly payload: Uint8Array;
}

const EMPTY = new Uint8Array(0);
const LOST: SimAnswer = { code: NO_ANSWER, payload: EMPTY };

/** A client that speaks raw frames over a connection in memory, with many requests in flight. */
export class SimClient {
  readonly #connection: Connection;
  readonly #client: bigint;
  readonly #waiting: ((answer: SimAnswer) => void)[] = [];
  #session = 0n;
  #nextNumber: bigint;
  #isClosed = false;

  /** @param firstNumber  behind the numbers of all requests that this client made before */
  constructor(connection: Connection, client: bigint, firstNumber: bigint) {
    this.#connection = connection;
    this.#client = client;
    this.#nextNumber = firstNumber;
    connection.onMessage = ({ bytes }) => this.#waiting.shift()?.(answerOf(bytes.slice()));
    connection.onClose = () => {
      this.#isClosed = true;
      for (const answered of this.#waiting.splice(0)) answered(LOST);
    };
  }

  /** Requests that wait for their answer. */
  get inFlightCount(): number {
    return this.#waiting.length;
  }

  /** Logs in as root. @throws Violation answer when that is refused */
  async login(): Promise<void> {
    const body = encodeLoginRegister({
      protocolVersion: PROTOCOL_VERSION,
      sdkName: "simulation",
      sdkVersion: "1",
      username: "iggy",
      password: "iggy",
      context: "",
    });
    const { code, payload } = await this.#exchange("LoginRegister", body, { session: 0n, request: 0n });
    if (code === NO_ANSWER) return;
    if (code !== 0) throw new Violation("answer", `a login was answered with ${code}`);
    this.#session = BigInt(decodeLoginReply(payload).session);
  }

  /** Sends a command; the answer never fails, for a connection that closes is an answer too. */
  command(name: CommandName, body: Uint8Array = EMPTY): Promise<SimAnswer> {
    const isDirect = COMMAND_OPERATIONS[name] === Operation.NonReplicated;
    const answer = this.#exchange(name, body, {
      session: this.#session,
      request: this.#nextNumber,
      code: isDirect ? CommandCode[name] : 0,
    });
    if (!isDirect) this.#nextNumber += 1n;
    return answer;
  }

  /** Ends the connection as the death of the server's process does. */
  close(): void {
    this.#connection.close();
  }

  #exchange(name: CommandName, body: Uint8Array, header: Partial<RequestHeader>): Promise<SimAnswer> {
    if (this.#isClosed) return Promise.resolve(LOST);
    const frame = new Uint8Array(HEADER_LENGTH + body.length);
    const operation = COMMAND_OPERATIONS[name];
    encodeRequestHeader(frame, { length: frame.length, client: this.#client, operation, ...header });
    frame.set(body, HEADER_LENGTH);
    return new Promise((answered) => {
      this.#waiting.push(answered);
      this.#connection.send([frame]);
    });
  }
}

function answerOf(bytes: Uint8Array): SimAnswer {
  if (bytes[COMMAND_POSITION] === EVICTION_COMMAND) throw new Violation("answer", "a client was evicted");
  const { status, operation } = decodeReplyHeader(bytes);
  const body = bytes.subarray(HEADER_LENGTH);
  const isFramed = status === 0 && body.length > 0 && hasResultSection(operation);
  return isFramed ? decodeResultSection(body) : { code: status, payload: body };
}
