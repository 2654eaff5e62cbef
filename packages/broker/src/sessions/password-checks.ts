import type { Passwords } from "@millrace/platform";
import { Fifo } from "../queues/fifo.ts";

interface Check {
  readonly password: string;
  readonly stored: string;
  readonly done: (isRight: boolean) => void;
}

/**
 * Checks passwords, a few at a time.
 *
 * Each check costs a thread and megabytes for a while, on purpose; those beyond the bound wait. A connection
 * has one at most, so the queue is bounded by the connections.
 */
export class PasswordChecks {
  readonly #passwords: Passwords;
  readonly #checksMax: number;
  readonly #waiting = new Fifo<Check>();
  #runningCount = 0;
  /** Stands in for an unknown user's hash, so that a wrong name takes as long as a wrong password. */
  readonly #dummyHash: string;

  /** @param dummyHash  hash of a password that nobody knows, made with the same cost as the users' */
  constructor(options: { passwords: Passwords; checksMax: number; dummyHash: string }) {
    this.#passwords = options.passwords;
    this.#checksMax = options.checksMax;
    this.#dummyHash = options.dummyHash;
  }

  /** Calls `done` once. Without a stored hash the answer is false, after the same time. */
  check(password: string, stored: string | undefined, done: (isRight: boolean) => void): void {
    const answer = stored === undefined ? () => done(false) : done;
    this.#waiting.push({ password, stored: stored ?? this.#dummyHash, done: answer });
    this.#next();
  }

  #next(): void {
    if (this.#runningCount >= this.#checksMax) return;
    const check = this.#waiting.shift();
    if (check === undefined) return;
    this.#runningCount += 1;
    void this.#passwords
      .verify(check.password, check.stored)
      .catch(() => false)
      .then((isRight) => {
        this.#runningCount -= 1;
        check.done(isRight);
        this.#next();
      });
  }
}
