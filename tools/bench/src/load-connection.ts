import net from "node:net";
import type { RequestRuns } from "./request-runs.ts";

/** All connections read into the same bytes: each read is looked at before the next one. */
const LANDING = Buffer.alloc(1 << 20);

/** What a pump sends next; the same arrays may come again once their reply is in. */
export type NextRequest = (index: number) => Buffer;

/**
 * One connection that sends prebuilt requests with a fixed number in flight and counts whole replies.
 *
 * The reply's bytes are read into one buffer and not looked at, but for length and status.
 */
export class LoadConnection {
  readonly #socket: net.Socket;
  readonly #header = Buffer.alloc(256);
  #headerLength = 0;
  #bodyLeft = 0;
  #status = 0;
  #body: Buffer[] | undefined;
  #onReply: (status: number) => void = () => {};
  #onRead: () => void = () => {};
  #onEnd: (error: Error) => void = () => {};

  private constructor(socket: net.Socket) {
    this.#socket = socket;
  }

  static open(port: number): Promise<LoadConnection> {
    return new Promise((resolve, reject) => {
      const callback = (length: number) => {
        connection.#take(LANDING, length);
        connection.#onRead();
        return true;
      };
      const socket = net.connect({
        port,
        host: "127.0.0.1",
        noDelay: true,
        onread: { buffer: LANDING, callback },
      });
      const connection = new LoadConnection(socket);
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        socket.on("error", (error) => connection.#onEnd(error));
        socket.on("close", () => connection.#onEnd(new Error("the server closed the connection")));
        resolve(connection);
      });
    });
  }

  /** Sends one request and returns its reply, header and body. Rejects when the connection ends first. */
  call(request: Buffer): Promise<Buffer> {
    this.#body = [];
    return new Promise((resolve, reject) => {
      this.#onEnd = reject;
      if (this.#socket.destroyed) return reject(new Error("the connection is closed"));
      this.#onReply = () => {
        const reply = Buffer.concat([Buffer.from(this.#header), ...(this.#body ?? [])]);
        this.#body = undefined;
        resolve(reply);
      };
      this.#socket.write(request);
    });
  }

  /** Sends `count` requests with at most `inFlight` unanswered; ends when all are answered. */
  pump(count: number, inFlight: number, next: NextRequest): Promise<void> {
    return this.#pump(count, inFlight, (sent, more) => {
      this.#socket.cork();
      for (let index = sent; index < sent + more; index += 1) this.#socket.write(next(index));
      this.#socket.uncork();
    });
  }

  /** The same with requests that lie side by side. */
  pumpRuns(count: number, inFlight: number, runs: RequestRuns): Promise<void> {
    const write = (bytes: Buffer) => this.#socket.write(bytes);
    return this.#pump(count, inFlight, (_, more) => runs.take(more, write));
  }

  #pump(count: number, inFlight: number, send: (sent: number, more: number) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      let sent = 0;
      let answered = 0;
      this.#onEnd = reject;
      const sendMore = () => {
        const more = Math.min(count, answered + inFlight) - sent;
        send(sent, more);
        sent += more;
      };
      this.#onReply = (status) => {
        if (status !== 0) return reject(new Error(`request ${answered} was refused with ${status}`));
        answered++;
        if (answered === count) resolve();
      };
      // All replies of a read count before more is sent, as with the peers: else the first of them that leave
      // less than half in flight would have it sent, and what the others make room for would stay unused.
      this.#onRead = () => {
        if (sent < count && (sent - answered < inFlight / 2 || sent === answered)) sendMore();
      };
      sendMore();
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(landing: Buffer, length: number): void {
    let at = 0;
    while (at < length) {
      if (this.#bodyLeft > 0) at += this.#takeBody(landing, at, length);
      else at += this.#takeHeader(landing, at, length);
    }
  }

  #takeBody(landing: Buffer, at: number, end: number): number {
    const taken = Math.min(this.#bodyLeft, end - at);
    this.#body?.push(Buffer.from(landing.subarray(at, at + taken)));
    this.#bodyLeft -= taken;
    if (this.#bodyLeft === 0) this.#onReply(this.#status);
    return taken;
  }

  #takeHeader(landing: Buffer, at: number, end: number): number {
    if (this.#headerLength === 0 && this.#body === undefined && end - at >= 256) {
      this.#endHeader(landing, at);
      return 256;
    }
    const taken = Math.min(256 - this.#headerLength, end - at);
    landing.copy(this.#header, this.#headerLength, at, at + taken);
    this.#headerLength += taken;
    if (this.#headerLength < 256) return taken;
    this.#headerLength = 0;
    this.#endHeader(this.#header, 0);
    return taken;
  }

  #endHeader(bytes: Buffer, at: number): void {
    this.#bodyLeft = bytes.readUInt32LE(at + 48) - 256;
    this.#status = bytes.readUInt32LE(at + 216);
    if (bytes[at + 60] !== 8) {
      this.#onEnd(new Error(`not a reply: command ${bytes[at + 60]}, reason ${bytes[at + 255]}`));
      this.#socket.destroy();
    } else if (this.#bodyLeft === 0) this.#onReply(this.#status);
  }
}
