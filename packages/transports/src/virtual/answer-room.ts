/**
 * Bytes of answers that may wait for clients to take them, over all of them: a few of the longest answers,
 * which are 4/3 of the longest message. Beyond it further ones are turned away.
 */
const LENGTH_MAX = 256 * 1024 * 1024;
/** An answer up to this length is never turned away: one for each of 8192 sessions is half a gigabyte. */
const SHORT_LENGTH_MAX = 65_536;
/**
 * Polls under way at once that store what they give out, so that their answers cannot be turned away any
 * more: as many of the longest answers as fit. Each takes about a millisecond; the others wait.
 */
const SURE_POLLS_MAX = 4;

/**
 * Bounds what answers hold in memory while their clients read them.
 *
 * It is asked when an answer is there: many may have begun while there was room. What cannot be taken back
 * then is asked for before it begins.
 */
export class AnswerRoom {
  #length = 0;
  #surePolls = 0;
  readonly #waiting: (() => void)[] = [];

  /** False while too much waits to be read. */
  get isOpen(): boolean {
    return this.#length <= LENGTH_MAX;
  }

  /** Whether an answer of this length, which is there now, may be given out. */
  admits(length: number): boolean {
    return length <= SHORT_LENGTH_MAX || this.isOpen;
  }

  /** Counts one answer; the function it returns counts it off again, once. */
  take(length: number): () => void {
    let taken = length;
    this.#length += taken;
    return () => {
      this.#length -= taken;
      taken = 0;
    };
  }

  /** Runs a poll whose answer cannot be turned away, a few at a time, in the order of the calls. */
  async surely<T>(poll: () => Promise<T>): Promise<T> {
    if (this.#surePolls < SURE_POLLS_MAX) this.#surePolls++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await poll();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#surePolls--;
      else next();
    }
  }
}
