import type { Socket } from "node:net";
import { plainError } from "../../errors/http-error.ts";

/** Why the parser of Node gave up on a socket, as far as it changes the answer. */
const STATUS_OF_FAULT: Readonly<Record<string, readonly [status: number, line: string, reason: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "The head of the request is too long."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "The request took too long."],
};
const NO_HTTP = [400, "Bad Request", "The bytes are no request of HTTP/1.1."] as const;

/** Answers bytes that are no request with the JSON body of an error, and closes the socket. */
export function answerNoHttp(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, line, reason] = STATUS_OF_FAULT[error.code ?? ""] ?? NO_HTTP;
  const body = plainError(status, "invalid_http_request", reason).body();
  const head = [
    `HTTP/1.1 ${status} ${line}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
