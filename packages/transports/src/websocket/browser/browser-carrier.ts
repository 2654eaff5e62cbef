import type { MessageCarrier } from "../../carried/carried-connection.ts";
import type { BrowserWebSocket } from "./browser-websocket.ts";

/** Bytes a browser may have taken but not sent, above which writes count as queued. */
const BUFFERED_MAX = 65_536;
/** How often a full browser is asked whether it has sent: browsers tell nobody. */
const BUFFERED_CHECK_MS = 4;

/** The codes a page may close with: 1000, or 3000 and above. */
const CLOSE_NORMAL = 1000;
const CLOSE_FAULT = 3000;

/**
 * Carries messages over a browser's WebSocket. It cannot stop reading, so what comes while paused is kept
 * here: on a client that is at most the replies to the requests in flight.
 */
export class BrowserCarrier implements MessageCarrier {
  readonly #webSocket: BrowserWebSocket;
  readonly #deliver: (message: Uint8Array) => void;
  readonly #kept: Uint8Array[] = [];
  readonly #unsent: ((error?: unknown) => void)[] = [];
  #isPaused = false;

  constructor(webSocket: BrowserWebSocket, deliver: (message: Uint8Array) => void) {
    this.#webSocket = webSocket;
    this.#deliver = deliver;
  }

  /** A message came. */
  received(message: Uint8Array): void {
    if (this.#isPaused) this.#kept.push(message);
    else this.#deliver(message);
  }

  write(messages: readonly Uint8Array[], done: (error?: unknown) => void): void {
    for (const message of messages) this.#webSocket.send(message);
    this.#unsent.push(done);
    if (this.#unsent.length === 1) queueMicrotask(this.#settle);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    while (!this.#isPaused) {
      const message = this.#kept.shift();
      if (message === undefined) return;
      this.#deliver(message);
    }
  }

  end(): void {
    this.#webSocket.close(CLOSE_NORMAL);
  }

  abort(): void {
    this.#webSocket.close(CLOSE_FAULT);
  }

  /** A browser copies what it is given, so all bytes are free at once; only the pace has to be kept. */
  readonly #settle = (): void => {
    if (this.#webSocket.bufferedAmount > BUFFERED_MAX) {
      setTimeout(this.#settle, BUFFERED_CHECK_MS);
      return;
    }
    const due = this.#unsent.splice(0);
    for (const done of due) done();
  };
}
