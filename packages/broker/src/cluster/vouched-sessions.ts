import type { VouchedSession } from "@millrace/protocol";

interface Entry {
  readonly session: number;
  /** Monotonic milliseconds: when somebody vouched for it last, or when it was first followed. */
  lastMs: number;
}

/** Intervals after which a node that said nothing is unheard, and a primary that did not look stood still. */
const UNHEARD_INTERVALS = 3;

/** What the primary knows when it looks. */
export interface Look {
  readonly view: number;
  /** All sessions of the cluster. */
  readonly sessions: readonly VouchedSession[];
  /** Those that are connected to the primary itself. */
  readonly connected: readonly VouchedSession[];
  /** Monotonic milliseconds. */
  readonly nowMs: number;
}

/**
 * When each session was last vouched for by the node its client is connected to. Kept by the primary, in
 * memory only.
 *
 * Sessions are told apart by client and number: what is said about an older login of a client says nothing
 * about a newer one. While too few nodes are heard to decide anything nobody is silent. Once enough are heard
 * again, in a view that is new, and after the primary stood still, everybody has the whole time anew.
 */
export class VouchedSessions {
  readonly #quorum: number;
  readonly #unheardMs: number;
  readonly #entries = new Map<bigint, Entry>();
  readonly #lastHeardMs = new Map<number, number>();
  #view = -1;
  #lastLookMs = 0;

  /** @param options.intervalMs  between two looks, and between two words of a node */
  constructor(options: { readonly replicaCount: number; readonly intervalMs: number }) {
    this.#quorum = Math.floor(options.replicaCount / 2) + 1;
    this.#unheardMs = UNHEARD_INTERVALS * options.intervalMs;
  }

  /** Sessions that are followed. */
  get count(): number {
    return this.#entries.size;
  }

  /** Another node said which sessions are connected to it; of those that are not followed nothing is kept. */
  heard(replica: number, sessions: readonly VouchedSession[], nowMs: number): void {
    this.#lastHeardMs.set(replica, nowMs);
    this.#vouch(sessions, nowMs);
  }

  /** Follows the sessions there are, and no others. One that is new has its whole time from now on. */
  look({ view, sessions, connected, nowMs }: Look): void {
    const before = this.#goesOn(view, nowMs) ? new Map(this.#entries) : undefined;
    this.#view = view;
    this.#lastLookMs = nowMs;
    this.#entries.clear();
    for (const { client, session } of sessions) {
      const known = before?.get(client);
      this.#entries.set(client, known?.session === session ? known : { session, lastMs: nowMs });
    }
    this.#vouch(connected, nowMs);
  }

  /** Sessions that nobody has vouched for in so many milliseconds. */
  silentFor(graceMs: number, nowMs: number): VouchedSession[] {
    const silent: VouchedSession[] = [];
    for (const [client, { session, lastMs }] of this.#entries) {
      if (nowMs - lastMs >= graceMs) silent.push({ client, session });
    }
    return silent;
  }

  #vouch(sessions: readonly VouchedSession[], nowMs: number): void {
    for (const { client, session } of sessions) {
      const entry = this.#entries.get(client);
      if (entry?.session === session) entry.lastMs = nowMs;
    }
  }

  #goesOn(view: number, nowMs: number): boolean {
    const oldestMs = nowMs - this.#unheardMs;
    const heard = [...this.#lastHeardMs.values()].filter((lastMs) => lastMs >= oldestMs);
    return view === this.#view && this.#lastLookMs >= oldestMs && 1 + heard.length >= this.#quorum;
  }
}
