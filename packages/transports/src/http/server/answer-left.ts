import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** What is due when a socket closes: one listener per socket, however many requests it carries. */
const dueAtClose = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back once an answer was sent or nobody can take it any more.
 *
 * An answer of HTTP/1.1 that waits behind another one on the same socket never hears that the socket closed,
 * so the socket is asked as well. The callback may come twice.
 */
export function whenAnswerLeft(
  request: IncomingMessage,
  response: ServerResponse,
  callback: () => void,
): void {
  response.once("close", callback);
  if (request.httpVersionMajor !== 1) return;
  const { socket } = request;
  if (socket.destroyed) {
    callback();
    return;
  }
  const due = dueAtClose.get(socket) ?? dueOf(socket);
  due.add(callback);
  response.once("close", () => due.delete(callback));
}

function dueOf(socket: Socket): Set<() => void> {
  const due = new Set<() => void>();
  dueAtClose.set(socket, due);
  socket.once("close", () => {
    for (const callback of due) callback();
    due.clear();
  });
  return due;
}
