import type { Clock, Log } from "@millrace/platform";

const LINE =
  "This node has no data yet and takes no logins before its cluster takes it in: a new cluster begins once all of its " +
  "nodes have been started, one that lives takes a node in by a majority.";

/** Says for whom a node waits that has not been taken in: at once, and again at an interval. */
export class WaitingLine {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #intervalMs: number;
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }, intervalMs: number) {
    this.#clock = clock;
    this.#log = log;
    this.#intervalMs = intervalMs;
  }

  /** The node still waits. @param missing  names of nodes of which nothing was heard */
  look(missing: () => readonly string[]): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + this.#intervalMs;
    const names = missing().join(", ");
    this.#log.info(LINE, { notHeardOf: names === "" ? "nobody: all have been heard" : names });
  }
}
