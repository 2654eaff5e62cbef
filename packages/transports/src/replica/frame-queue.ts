import type { Writable } from "node:stream";

/** How much may wait for one peer. */
export interface QueueBounds {
  readonly framesMax: number;
  /** In bytes; more than the longest frame. */
  readonly lengthMax: number;
}

interface Queued {
  readonly length: number;
  readonly onDone: (() => void) | undefined;
}

/**
 * What is written to one peer: frames of one event leave in one vectored write. A frame that would pass a
 * bound is not taken. Each `onDone` is called once, in order.
 */
export class FrameQueue {
  readonly #stream: Writable;
  readonly #bounds: QueueBounds;
  readonly #queued: Queued[] = [];
  #queuedLength = 0;
  #isCorked = false;
  #isClosed = false;

  constructor(stream: Writable, bounds: QueueBounds) {
    this.#stream = stream;
    this.#bounds = bounds;
  }

  /** Frames that are not written yet. */
  get framesQueued(): number {
    return this.#queued.length;
  }

  /** Takes a frame whose parts are lent until `onDone`; false, without a call, when there is no room. */
  push(parts: readonly Uint8Array[], length: number, onDone?: () => void): boolean {
    const { framesMax, lengthMax } = this.#bounds;
    if (this.#isClosed || this.#queued.length >= framesMax || this.#queuedLength + length > lengthMax) {
      return false;
    }
    this.#queued.push({ length, onDone });
    this.#queuedLength += length;
    this.#cork();
    for (const part of parts.slice(0, -1)) this.#stream.write(part);
    this.#stream.write(parts[parts.length - 1], this.#onWritten);
    return true;
  }

  /** Nothing more is written; what waits is done. */
  close(): void {
    this.#isClosed = true;
    for (const { onDone } of this.#queued.splice(0)) onDone?.();
    this.#queuedLength = 0;
  }

  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#stream.cork();
    queueMicrotask(() => {
      this.#isCorked = false;
      this.#stream.uncork();
    });
  }

  readonly #onWritten = (): void => {
    const written = this.#queued.shift();
    if (written === undefined) return; // `close` has answered for it already.
    this.#queuedLength -= written.length;
    written.onDone?.();
  };
}
