/**
 * Text of polled messages that may wait for clients to take it, over all of them: a few of the longest
 * answers, which are 4/3 of the longest message. Beyond it further polls are turned away.
 */
const LENGTH_MAX = 256 * 1024 * 1024;

/** Bounds what answers hold in memory while their clients read them. */
export class AnswerRoom {
  #length = 0;

  /** False while too much waits to be read. */
  get isOpen(): boolean {
    return this.#length <= LENGTH_MAX;
  }

  /** Counts one answer; the function it returns counts it off again. */
  take(length: number): () => void {
    this.#length += length;
    return () => {
      this.#length -= length;
    };
  }
}
