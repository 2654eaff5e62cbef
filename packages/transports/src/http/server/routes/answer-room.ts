import { plainError } from "../errors/http-error.ts";

/**
 * Text of polled messages that may wait for clients to take it, over all of them: a few of the longest
 * answers, which are 4/3 of the longest message. Beyond it further polls are turned away.
 */
const LENGTH_MAX = 256 * 1024 * 1024;

/** Bounds what answers hold in memory while their clients read them. */
export class AnswerRoom {
  #length = 0;

  /** @throws HttpError 503 when too much waits to be read */
  check(): void {
    if (this.#length <= LENGTH_MAX) return;
    throw plainError(503, "server_busy", "Too many answers wait to be read by their clients.");
  }

  /** Counts one answer; the function it returns counts it off again. */
  take(length: number): () => void {
    this.#length += length;
    return () => {
      this.#length -= length;
    };
  }
}
