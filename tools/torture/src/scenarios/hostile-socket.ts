import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { encodeRequestHeader, HEADER_LENGTH } from "@millrace/framing";
import {
  decodeLoginReply,
  decodeResultSection,
  encodeLoginRegister,
  Operation,
  PROTOCOL_VERSION,
} from "@millrace/protocol";

const LENGTH_AT = 48;

/** A socket for frames that no client would send. It counts answers; all it reads are those of its login. */
export class HostileSocket {
  readonly #socket: Socket;
  readonly #client: bigint;
  #received = Buffer.alloc(0);
  #answers: Buffer[] = [];
  #onChange: () => void = () => {};
  #session = 0n;
  #number = 1n;
  isOpen = true;

  private constructor(socket: Socket, client: bigint) {
    this.#socket = socket;
    this.#client = client;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("error", () => {});
    socket.on("close", () => {
      this.isOpen = false;
      this.#onChange();
    });
  }

  /** Connects, and logs in as root unless told otherwise. */
  static async open(port: number, client: bigint, logsIn: boolean): Promise<HostileSocket> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    const hostile = new HostileSocket(socket, client);
    if (logsIn) await hostile.#login();
    return hostile;
  }

  /** Queues one frame under the session's next number. */
  write(operation: number, code: number, body: Uint8Array): void {
    this.#socket.write(this.#frame({ operation, code, request: this.#number }, body));
    this.#number += 1n;
  }

  /** Waits until as many answers came as frames were written, or the server closed. */
  async answered(count: number): Promise<void> {
    while (this.isOpen && this.#answers.length < count) {
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
    this.#answers = [];
  }

  close(): void {
    this.#socket.destroy();
  }

  async #login(): Promise<void> {
    const sdk = { protocolVersion: PROTOCOL_VERSION, sdkName: "hostile", sdkVersion: "1", context: "" };
    const body = encodeLoginRegister({ ...sdk, username: "iggy", password: "iggy" });
    this.#socket.write(this.#frame({ operation: Operation.Register, code: 0, request: 0n }, body));
    while (this.isOpen && this.#answers.length === 0) {
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
    const answer = this.#answers.shift();
    if (answer === undefined) throw new Error("the server closed a login that is right");
    const { payload } = decodeResultSection(answer.subarray(HEADER_LENGTH));
    this.#session = BigInt(decodeLoginReply(payload).session);
  }

  #frame(header: { operation: number; code: number; request: bigint }, body: Uint8Array): Uint8Array {
    const frame = new Uint8Array(HEADER_LENGTH + body.length);
    const fields = { length: frame.length, client: this.#client, session: this.#session, ...header };
    encodeRequestHeader(frame, fields);
    frame.set(body, HEADER_LENGTH);
    return frame;
  }

  #take(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      if (this.#received.length < HEADER_LENGTH) break;
      const length = this.#received.readUInt32LE(LENGTH_AT);
      if (this.#received.length < length) break;
      this.#answers.push(this.#received.subarray(0, length));
      this.#received = this.#received.subarray(length);
    }
    this.#onChange();
  }
}
