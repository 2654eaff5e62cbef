import type { CodedError } from "@millrace/errors";

/** What a client tells about its connection; the diagnostics channel is `millrace:` and this name. */
export type ClientEvent = "connected" | "disconnected" | "reconnecting";

/**
 * Facts that go with an event. `address` is `host:port`; `attempt` counts from 1; `delayMs` is the wait
 * before it.
 */
export interface ClientEventFacts {
  readonly address: string;
  readonly attempt?: number;
  readonly delayMs?: number;
  readonly error?: CodedError;
}

/** What `on` takes. */
export type ClientEventListener = (facts: ClientEventFacts) => void;

/**
 * Listeners of one client. A listener that throws does not disturb the client: its error surfaces as an
 * uncaught exception of its own, after the current work.
 */
export class ClientEvents {
  readonly #listeners = new Map<ClientEvent, Set<ClientEventListener>>();
  readonly #publish: (event: ClientEvent, facts: ClientEventFacts) => void;

  constructor(publish: (event: ClientEvent, facts: ClientEventFacts) => void) {
    this.#publish = publish;
  }

  /** Adds a listener and returns the function that removes it. */
  on(event: ClientEvent, listener: ClientEventListener): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Tells every listener and the diagnostics channel. */
  emit(event: ClientEvent, facts: ClientEventFacts): void {
    this.#publish(event, facts);
    for (const listener of this.#listeners.get(event) ?? []) {
      try {
        listener(facts);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
