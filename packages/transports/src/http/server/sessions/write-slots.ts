import { plainError } from "../errors/http-error.ts";

/** Awaited partition writes of one session and of the whole server. @see http-api section 7 */
const PER_SESSION_MAX = 32;
const PER_SERVER_MAX = 128;

/** Bounds the partition writes that HTTP clients wait for. */
export class WriteSlots {
  #taken = 0;

  /** @throws HttpError 429 when the session or the server has too many */
  take(session: { writesInFlight: number }): void {
    if (session.writesInFlight >= PER_SESSION_MAX || this.#taken >= PER_SERVER_MAX) {
      throw plainError(429, "too_many_in_flight_writes", "Too many writes are awaited already.");
    }
    session.writesInFlight++;
    this.#taken++;
  }

  /** Gives one back. */
  give(session: { writesInFlight: number }): void {
    session.writesInFlight--;
    this.#taken--;
  }
}
