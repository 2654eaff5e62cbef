import { Violation } from "../oracle/violation.ts";

/** What is known about the stored offset of one consumer, which only rises. -1 is none. */
export class OffsetLedger {
  readonly name: string;
  #acknowledged = -1;
  #attempted = -1;
  /** The highest that was ever tried since the last purge: a power loss may lead back to it. */
  #highest = -1;
  #isForgiven = false;
  #mayBeInDoubt = false;

  constructor(name: string) {
    this.name = name;
  }

  /** The highest offset somebody tried to store. */
  get attempted(): number {
    return this.#attempted;
  }

  attempt(offset: number): void {
    this.#attempted = Math.max(this.#attempted, offset);
    this.#highest = Math.max(this.#highest, offset);
  }

  acknowledge(offset: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, offset);
  }

  /** What was acknowledged may be gone: a power loss it was not protected from, or a repair that said so. */
  forgive(): void {
    this.#isForgiven = true;
  }

  /** Records were changed: the answer may be the code of damage. */
  harm(): void {
    this.#mayBeInDoubt = true;
  }

  /** Whether the code of damage is an answer to who asks for it. */
  get mayBeInDoubt(): boolean {
    return this.#mayBeInDoubt;
  }

  purge(): void {
    this.#acknowledged = -1;
    this.#attempted = -1;
    this.#highest = -1;
  }

  /** Judges a stored offset; undefined for none. @throws Violation consumer-offset */
  see(stored: number | undefined): void {
    const seen = stored ?? -1;
    const least = this.#isForgiven ? -1 : this.#acknowledged;
    const most = this.#isForgiven ? this.#highest : this.#attempted;
    if (seen < least || seen > most) {
      const expected = `${this.#acknowledged} was acknowledged, ${this.#attempted} was tried last`;
      throw new Violation("consumer-offset", `${this.name}: ${stored ?? "nothing"} is stored; ${expected}`);
    }
    this.#acknowledged = seen;
    this.#attempted = seen;
    this.#isForgiven = false;
  }
}
