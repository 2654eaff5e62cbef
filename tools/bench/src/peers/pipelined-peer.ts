import net from "node:net";
import { RequestRuns } from "../request-runs.ts";

/** Looks at what a peer sends and says how many replies ended in it. Throws what a refusal says. */
export interface ReplyReader {
  take(bytes: Buffer): number;
}

const CONNECT_TIMEOUT_MS = 10_000;
const RETRY_MS = 50;

/**
 * One connection to a peer that sends prebuilt requests with a fixed number in flight: what `LoadConnection`
 * is for Millrace, byte for byte as frugal.
 */
export class PipelinedPeer {
  readonly #socket: net.Socket;
  readonly #replies: ReplyReader;
  #onReplies: (count: number) => void = () => {};
  #onError: (error: Error) => void = () => {};

  private constructor(socket: net.Socket, replies: ReplyReader) {
    this.#socket = socket;
    this.#replies = replies;
    socket.on("error", (error) => this.#onError(error));
  }

  /** Connects as soon as the peer listens. @throws when it does not within 10 s */
  static async open(port: number, replies: (socket: net.Socket) => ReplyReader): Promise<PipelinedPeer> {
    const endMs = performance.now() + CONNECT_TIMEOUT_MS;
    for (;;) {
      try {
        return await PipelinedPeer.#attempt(port, replies);
      } catch (error) {
        if (performance.now() > endMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  static #attempt(port: number, replies: (socket: net.Socket) => ReplyReader): Promise<PipelinedPeer> {
    return new Promise((resolve, reject) => {
      const buffer = Buffer.alloc(1 << 20);
      const callback = (length: number) => {
        peer.#take(buffer.subarray(0, length));
        return true;
      };
      const onread = { buffer, callback };
      const socket = net.connect({ port, host: "127.0.0.1", noDelay: true, onread });
      const peer = new PipelinedPeer(socket, replies(socket));
      socket.once("error", reject);
      socket.once("connect", () => resolve(peer));
    });
  }

  /** Sends one request and waits for its reply. */
  call(request: Buffer): Promise<void> {
    return this.pumpRuns(1, 1, new RequestRuns(request, 1));
  }

  /** Sends `count` requests with at most `inFlight` unanswered; ends when all are answered. */
  pumpRuns(count: number, inFlight: number, runs: RequestRuns): Promise<void> {
    const write = (bytes: Buffer) => this.#socket.write(bytes);
    return new Promise((resolve, reject) => {
      let sent = 0;
      let answered = 0;
      const sendMore = () => {
        const more = Math.min(count, answered + inFlight) - sent;
        runs.take(more, write);
        sent += more;
      };
      this.#onError = reject;
      this.#onReplies = (replies) => {
        answered += replies;
        if (answered === count) resolve();
        else if (sent - answered < inFlight / 2 || sent === answered) sendMore();
      };
      sendMore();
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    try {
      const count = this.#replies.take(bytes);
      if (count > 0) this.#onReplies(count);
    } catch (error) {
      this.#onError(error as Error);
    }
  }
}
