import type { Passwords } from "@millrace/platform";

/**
 * Checks passwords so that an unknown name takes as long as a wrong password.
 *
 * How many are checked at once is the platform's bound; a connection waits for one at most.
 */
export class PasswordChecks {
  readonly #passwords: Passwords;
  readonly #dummyHash: string;

  /** @param dummyHash  hash of a password that nobody knows, made with the same cost as the users' */
  constructor(options: { passwords: Passwords; dummyHash: string }) {
    this.#passwords = options.passwords;
    this.#dummyHash = options.dummyHash;
  }

  /** Calls `done` once. Without a stored hash the answer is false, after the same time. */
  check(password: string, stored: string | undefined, done: (isRight: boolean) => void): void {
    void this.#passwords
      .verify(password, stored ?? this.#dummyHash)
      .catch(() => false)
      .then((isRight) => done(isRight && stored !== undefined));
  }
}
