import type { Message } from "@millrace/client";
import type { Client } from "../connection/client.ts";
import type { CreatedTopic } from "./bench-topics.ts";
import type { LoadClock } from "./load-clock.ts";
import type { BenchPlan } from "./plan.ts";

/** What all actors of a run share. */
export interface Load {
  readonly plan: BenchPlan;
  readonly topics: readonly CreatedTopic[];
  readonly clock: LoadClock;
  /** Ends the run; the reason is the error it ends with. */
  readonly signal: AbortSignal;
  readonly payloads: PayloadSource;
}

/** An actor's own connection. */
export interface ActorLoad extends Load {
  readonly client: Client;
}

const MICROS_PER_MS = 1_000;

/** The messages that are sent. All share one payload, so that making them costs the client little. */
export class PayloadSource {
  readonly #payload: Uint8Array;
  readonly #plain: readonly Message[];
  readonly #zeroMicros: number;

  /**
   * @param payload  the bytes of every message; not changed afterwards
   * @param zeroMicros  wall time at 0 of the run's clock, so that times of sending can travel with messages
   */
  constructor(payload: Uint8Array, count: number, zeroMicros: number) {
    this.#payload = payload;
    this.#plain = Array.from({ length: count }, () => ({ payload }));
    this.#zeroMicros = zeroMicros;
  }

  /** One batch. */
  batch(): readonly Message[] {
    return this.#plain;
  }

  /** One batch whose messages carry the time they were due. */
  stampedBatch(dueMs: number): readonly Message[] {
    const originTimestamp = BigInt(Math.round(this.#zeroMicros + dueMs * MICROS_PER_MS));
    return this.#plain.map(() => ({ payload: this.#payload, originTimestamp }));
  }

  /** When a message of `stampedBatch` was due, in milliseconds of the run's clock. */
  dueMsOf(originTimestamp: bigint): number {
    return (Number(originTimestamp) - this.#zeroMicros) / MICROS_PER_MS;
  }
}
