/** Awaited partition writes of one session and of the whole server. @see http-api section 7 */
const PER_SESSION_MAX = 32;
const PER_SERVER_MAX = 128;

/** Bounds the partition writes that clients of one transport wait for. */
export class WriteSlots {
  #taken = 0;

  /** Takes one; false when the session or the server has too many. */
  take(session: { writesInFlight: number }): boolean {
    if (session.writesInFlight >= PER_SESSION_MAX || this.#taken >= PER_SERVER_MAX) return false;
    session.writesInFlight++;
    this.#taken++;
    return true;
  }

  /** Gives one back. */
  give(session: { writesInFlight: number }): void {
    session.writesInFlight--;
    this.#taken--;
  }
}
