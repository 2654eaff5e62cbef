import { Violation } from "./violation.ts";

/** What is known about one consumer's stored offset; the offsets it stores only rise. -1 is none. */
export class ConsumerOffsetHistory {
  readonly name: string;
  #attempted = -1;
  #acknowledged = -1;

  constructor(name: string) {
    this.name = name;
  }

  /** The last offset somebody tried to store. */
  get attempted(): number {
    return this.#attempted;
  }

  /** Notes that `offset` is being stored. */
  attempt(offset: number): void {
    this.#attempted = Math.max(this.#attempted, offset);
  }

  /** Notes that `offset` was acknowledged. */
  acknowledge(offset: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, offset);
  }

  /**
   * Judges what the server says is stored; undefined for nothing. What it says must stay from then on.
   *
   * @throws Violation consumer-offset
   */
  see(stored: number | undefined): void {
    const seen = stored ?? -1;
    if (seen < this.#acknowledged || seen > this.#attempted) {
      const expected = `${this.#acknowledged} was acknowledged, ${this.#attempted} was tried last`;
      throw new Violation("consumer-offset", `${this.name}: ${stored ?? "nothing"} is stored; ${expected}`);
    }
    this.#acknowledged = seen;
    this.#attempted = seen;
  }

  /** Notes a purge: nothing is stored any more. */
  purge(): void {
    this.#attempted = -1;
    this.#acknowledged = -1;
  }
}
