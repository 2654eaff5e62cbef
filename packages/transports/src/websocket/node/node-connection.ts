import type { Socket } from "node:net";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { RawData, WebSocket } from "ws";
import type { CarriedConnection } from "../../carried/carried-connection.ts";
import { disconnected } from "../../connection-lost.ts";
import { NodeCarrier } from "./node-carrier.ts";

/** Codes that close a connection in order: done, going away as a closing page or server does, none given. */
const ORDERLY_CODES = new Set([1000, 1001, 1005]);

/** Codes of the errors with which `ws` refuses what is too long; others are broken frames. */
const TOO_LONG = /UNSUPPORTED_MESSAGE_LENGTH|TOO_MANY_BUFFERED_PARTS/;

/** Joins a WebSocket of `ws`, either half, with its connection. Text is refused with the close code 1003. */
export function joinWebSocket(webSocket: WebSocket, socket: Socket, connection: CarriedConnection): void {
  connection.attach(new NodeCarrier(webSocket, socket));
  webSocket.on("message", (data: RawData, isBinary: boolean) => {
    if (isBinary) connection.received(data as Buffer);
    else connection.close(textRefused());
  });
  webSocket.on("error", (error) => connection.close(failureOf(error)));
  webSocket.on("close", (code: number) => {
    connection.closed(ORDERLY_CODES.has(code) ? undefined : disconnected());
  });
}

function textRefused(): CodedError {
  return new CodedError(ErrorCode.InvalidFormat, "A text message came; each message must be binary.");
}

/** What `ws` refuses closes the connection with a code of its own; the reason is told in our codes. */
function failureOf(error: Error & { code?: string }): CodedError {
  const { code = "" } = error;
  if (!code.startsWith("WS_ERR_")) return disconnected(error);
  const isLong = TOO_LONG.test(code);
  const text = isLong ? "A WebSocket message is too long." : `A WebSocket frame is broken: ${error.message}.`;
  return new CodedError(isLong ? ErrorCode.FrameTooLarge : ErrorCode.InvalidCommand, text, { cause: error });
}
