import type { IncomingMessage } from "node:http";

/** How long the rest of a body that is refused is still read: enough for most clients to have sent it. */
const UNREAD_MAX_MS = 2000;
/** Most bytes of it that are read: what a client sends before it looks for an answer. */
const UNREAD_LENGTH_MAX = 64 * 1_048_576;

/**
 * Reads the rest of a body and throws it away, then calls back: at its end, when the client has gone, or
 * after some time or length. Who answers and closes while a client still sends makes its system throw the
 * answer away.
 */
export function afterUnreadBody(request: IncomingMessage, callback: () => void): void {
  let length = 0;
  const end = () => {
    clearTimeout(timer);
    request.off("data", count).off("end", end).off("close", end);
    callback();
  };
  const count = (bytes: Uint8Array) => {
    length += bytes.length;
    if (length > UNREAD_LENGTH_MAX) end();
  };
  const timer = setTimeout(end, UNREAD_MAX_MS);
  if (request.complete || request.destroyed) end();
  else request.on("data", count).on("end", end).on("close", end).resume();
}
