/** Where lines of the log go. Never throws and never waits. */
export interface LogSink {
  /** @param line  one JSON object and a line feed */
  write(line: string): void;
  /** Sends what waits before it returns, as far as that is possible. */
  flushNow?(): void;
  close?(): Promise<void>;
}

/** Lines kept for sinks that come later; a start says a few dozen. */
const HELD_LINES_MAX = 1000;

/**
 * Hands each line to every sink. Sinks that come while the server starts get the earlier lines too: the log
 * files are opened only once the data folder is taken.
 */
export class LogSinks implements LogSink {
  #sinks: LogSink[];
  #held: string[] | undefined = [];

  constructor(first: LogSink) {
    this.#sinks = [first];
  }

  write(line: string): void {
    for (const sink of this.#sinks) sink.write(line);
    if (this.#held !== undefined && this.#held.length < HELD_LINES_MAX) this.#held.push(line);
  }

  /** Adds a sink, which gets the lines so far first. */
  add(sink: LogSink): void {
    for (const line of this.#held ?? []) sink.write(line);
    this.#sinks.push(sink);
  }

  /** No more sinks that want the earlier lines: the server has started. */
  settle(): void {
    this.#held = undefined;
  }

  flushNow(): void {
    for (const sink of this.#sinks) sink.flushNow?.();
  }

  async close(): Promise<void> {
    const sinks = this.#sinks.splice(1);
    await Promise.all(sinks.map((sink) => sink.close?.()));
  }
}
