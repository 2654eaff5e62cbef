import type { CodedError } from "@millrace/errors";

/** Messages behind the expected offset are not there any more: retention or a purge took them. */
export interface SkippedFacts {
  readonly partitionId: number;
  readonly expectedOffset: bigint;
  readonly foundOffset: bigint;
  readonly count: bigint;
}

/** A server was there and refused to have a partition read, for as long as a request may take. */
export interface RefusedFacts {
  readonly partitionId: number;
  /** A RequestTimeout; its cause is what the server answered. */
  readonly error: CodedError;
}

/** Events of a consumer by name. */
export interface ConsumerEventFacts {
  readonly refused: RefusedFacts;
  readonly skipped: SkippedFacts;
}

type Listener = (facts: never) => void;

/** Listeners of one consumer. One that throws surfaces as an uncaught exception of its own. */
export class ConsumerEvents<Facts extends ConsumerEventFacts> {
  readonly #listeners = new Map<keyof Facts, Set<Listener>>();

  /** Adds a listener and returns the function that removes it. */
  on<Name extends keyof Facts>(name: Name, listener: (facts: Facts[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set<Listener>();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  emit<Name extends keyof Facts>(name: Name, facts: Facts[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        listener(facts as never);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

/** The facts of a gap: the offset that was due, and the one that came. */
export function skippedFacts(partitionId: number, expected: number, foundOffset: bigint): SkippedFacts {
  const expectedOffset = BigInt(expected);
  return { partitionId, expectedOffset, foundOffset, count: foundOffset - expectedOffset };
}
