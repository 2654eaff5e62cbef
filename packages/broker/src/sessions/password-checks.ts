import type { Passwords } from "@millrace/platform";
import { Fifo } from "../queues/fifo.ts";

/** How a check ended; `busy` when too many wait already. */
export type PasswordVerdict = "right" | "wrong" | "busy";

/** A password to be checked. */
export interface PasswordClaim {
  readonly password: string;
  /** Stored form of the user's password; without one the verdict is `wrong`, after the same time. */
  readonly stored: string | undefined;
  /** False once nobody waits for the verdict any more. */
  isWanted(): boolean;
  /** Called once. */
  decided(verdict: PasswordVerdict): void;
}

/** Claims handed to the platform, which bounds what runs at once: enough to keep it busy. */
const CHECKS_MAX = 4;
/**
 * Claims that wait. Some 10 s of checks on two cores: whoever waits is answered before an official client
 * gives up at 30 s.
 */
const WAITING_MAX = 256;

/**
 * Checks passwords so that an unknown name takes as long as a wrong password.
 *
 * A check costs a thread and megabytes for a while, on purpose. So strangers cannot pile them up: claims
 * beyond the queue's bound are turned away at once, and who hung up meanwhile costs no check.
 */
export class PasswordChecks {
  readonly #passwords: Passwords;
  readonly #dummyHash: string;
  readonly #waitingMax: number;
  readonly #waiting = new Fifo<PasswordClaim>();
  #runningCount = 0;

  /**
   * @param options.dummyHash  hash of a password that nobody knows, made with the same cost as the users'
   * @param options.waitingMax  default 256
   */
  constructor(options: { passwords: Passwords; dummyHash: string; waitingMax?: number }) {
    this.#passwords = options.passwords;
    this.#dummyHash = options.dummyHash;
    this.#waitingMax = options.waitingMax ?? WAITING_MAX;
  }

  /** Decides on a claim, in the order in which they came. */
  check(claim: PasswordClaim): void {
    if (this.#waiting.count >= this.#waitingMax) this.#dropUnwanted();
    if (this.#waiting.count >= this.#waitingMax) {
      claim.decided("busy");
      return;
    }
    this.#waiting.push(claim);
    this.#next();
  }

  #dropUnwanted(): void {
    for (const claim of this.#waiting.drain()) {
      if (claim.isWanted()) this.#waiting.push(claim);
      else claim.decided("wrong");
    }
  }

  #next(): void {
    while (this.#runningCount < CHECKS_MAX) {
      const claim = this.#waiting.shift();
      if (claim === undefined) return;
      if (claim.isWanted()) this.#verify(claim);
      else claim.decided("wrong");
    }
  }

  #verify(claim: PasswordClaim): void {
    const { password, stored } = claim;
    this.#runningCount += 1;
    void this.#passwords
      .verify(password, stored ?? this.#dummyHash)
      .catch(() => false)
      .then((isRight) => {
        this.#runningCount -= 1;
        claim.decided(isRight && stored !== undefined ? "right" : "wrong");
        this.#next();
      });
  }
}
