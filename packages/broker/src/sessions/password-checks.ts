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

/** A password to be hashed. */
export interface PasswordToHash {
  readonly password: string;
  /** False once nobody waits for the hash any more. */
  isWanted(): boolean;
  /** Called once; without a hash when too many wait already, nobody waits for it, or it could not be made. */
  hashed(stored: string | undefined): void;
}

/** One thing that waits for a thread. */
interface Task {
  isWanted(): boolean;
  /** Never rejects. */
  run(): Promise<void>;
  /** Too many wait already. */
  turnAway(): void;
  /** It was not wanted any more when its turn came. */
  drop(): void;
}

/** Tasks handed to the platform, which bounds what runs at once: enough to keep it busy. */
const RUNNING_MAX = 4;
/**
 * Tasks that wait. Some 10 s of checks on two cores: whoever waits is answered before an official client
 * gives up at 30 s.
 */
const WAITING_MAX = 256;

/**
 * Checks passwords, so that an unknown name takes as long as a wrong password, and hashes new ones.
 *
 * Either costs a thread and megabytes for a while, on purpose. So strangers cannot pile them up: what is
 * beyond the queue's bound is turned away at once, and who hung up meanwhile costs nothing.
 */
export class PasswordChecks {
  readonly #passwords: Passwords;
  readonly #dummyHash: string;
  readonly #waitingMax: number;
  readonly #waiting = new Fifo<Task>();
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
    this.#take({
      isWanted: () => claim.isWanted(),
      run: () => this.#verify(claim),
      turnAway: () => claim.decided("busy"),
      drop: () => claim.decided("wrong"),
    });
  }

  /** Makes the stored form of a password, in its turn among the claims. */
  hash(wish: PasswordToHash): void {
    const nothing = () => wish.hashed(undefined);
    this.#take({
      isWanted: () => wish.isWanted(),
      run: () =>
        this.#passwords
          .hash(wish.password)
          .catch(() => undefined)
          .then((stored) => wish.hashed(stored)),
      turnAway: nothing,
      drop: nothing,
    });
  }

  #take(task: Task): void {
    if (this.#waiting.count >= this.#waitingMax) this.#dropUnwanted();
    if (this.#waiting.count >= this.#waitingMax) {
      task.turnAway();
      return;
    }
    this.#waiting.push(task);
    this.#next();
  }

  #dropUnwanted(): void {
    for (const task of this.#waiting.drain()) {
      if (task.isWanted()) this.#waiting.push(task);
      else task.drop();
    }
  }

  #next(): void {
    while (this.#runningCount < RUNNING_MAX) {
      const task = this.#waiting.shift();
      if (task === undefined) return;
      if (task.isWanted()) this.#run(task);
      else task.drop();
    }
  }

  #run(task: Task): void {
    this.#runningCount += 1;
    void task.run().then(() => {
      this.#runningCount -= 1;
      this.#next();
    });
  }

  #verify({ password, stored, decided }: PasswordClaim): Promise<void> {
    return this.#passwords
      .verify(password, stored ?? this.#dummyHash)
      .catch(() => false)
      .then((isRight) => decided(isRight && stored !== undefined ? "right" : "wrong"));
  }
}
