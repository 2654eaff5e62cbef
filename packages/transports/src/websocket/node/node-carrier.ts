import type { Socket } from "node:net";
import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { WebSocket } from "ws";
import type { MessageCarrier } from "../../carried/carried-connection.ts";

/** Close codes of RFC 6455, section 7.4.1. */
const CloseCode = { normal: 1000, goingAway: 1001, protocol: 1002, text: 1003, policy: 1008, tooLong: 1009 };

/** Carries messages over a WebSocket of `ws`, either half: each is one binary message, not fragmented. */
export class NodeCarrier implements MessageCarrier {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;

  constructor(webSocket: WebSocket, socket: Socket) {
    this.#webSocket = webSocket;
    this.#socket = socket;
  }

  write(messages: readonly Uint8Array[], done: (error?: unknown) => void): void {
    const last = messages.length - 1;
    if (last < 0) return void this.#socket.write("", done);
    this.#socket.cork();
    for (let index = 0; index < last; index++) this.#webSocket.send(messages[index]!, { binary: true });
    this.#webSocket.send(messages[last]!, { binary: true }, done);
    this.#socket.uncork();
  }

  pause(): void {
    this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }

  end(): void {
    this.#webSocket.close(CloseCode.normal);
  }

  /** The close frame leaves at once when nothing is queued; the peer's is not waited for. */
  abort(error: CodedError): void {
    this.#webSocket.close(closeCodeOf(error));
    setImmediate(() => this.#webSocket.terminate());
  }
}

function closeCodeOf(error: CodedError): number {
  if (isCodedError(error, ErrorCode.FrameTooLarge)) return CloseCode.tooLong;
  if (isCodedError(error, ErrorCode.InvalidFormat)) return CloseCode.text;
  if (isCodedError(error, ErrorCode.InvalidCommand)) return CloseCode.protocol;
  if (isCodedError(error, ErrorCode.RequestTimeout)) return CloseCode.policy;
  return CloseCode.goingAway;
}
