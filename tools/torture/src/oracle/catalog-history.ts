import { applyOperation, type CatalogOperation, type CatalogState, catalogLines } from "./catalog-state.ts";
import { Violation } from "./violation.ts";

/** What is known about the catalog: the acknowledged state, and the one operation whose answer is missing. */
export class CatalogHistory {
  readonly #otherIds: readonly number[];
  #state: CatalogState = {};
  #pending: CatalogOperation | undefined;
  #acknowledgedCount = 0;

  /** @param otherIds  ids of the streams that the history leaves out */
  constructor(otherIds: readonly number[]) {
    this.#otherIds = otherIds;
  }

  /** The acknowledged state. */
  get state(): CatalogState {
    return this.#state;
  }

  /** True while the outcome of an operation is open. */
  get hasPending(): boolean {
    return this.#pending !== undefined;
  }

  /** Operations acknowledged so far. */
  get acknowledgedCount(): number {
    return this.#acknowledgedCount;
  }

  /** Notes an operation before it leaves; it must be possible in the acknowledged state. */
  attempt(operation: CatalogOperation): void {
    this.#pending = operation;
  }

  /** Notes that the attempted operation was acknowledged. */
  acknowledge(): void {
    if (this.#pending === undefined) return;
    this.#state = applyOperation(this.#state, this.#pending, this.#otherIds);
    this.#pending = undefined;
    this.#acknowledgedCount += 1;
  }

  /**
   * Judges the catalog a server shows: the acknowledged state, with or without the unanswered operation.
   *
   * @throws Violation catalog, with the lines that differ
   */
  see(actual: CatalogState): void {
    const pending = this.#pending;
    this.#pending = undefined;
    const seen = catalogLines(actual);
    if (isSame(seen, catalogLines(this.#state))) return;
    if (pending !== undefined) {
      const after = applyOperation(this.#state, pending, this.#otherIds);
      if (isSame(seen, catalogLines(after))) {
        this.#state = after;
        return;
      }
    }
    const unanswered =
      pending === undefined ? "nothing unanswered" : `unanswered: ${JSON.stringify(pending)}`;
    throw new Violation("catalog", `${difference(catalogLines(this.#state), seen)}; ${unanswered}`);
  }
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.join("\n") === right.join("\n");
}

function difference(expected: readonly string[], seen: readonly string[]): string {
  const missing = expected.filter((line) => !seen.includes(line)).map((line) => `missing: ${line}`);
  const extra = seen.filter((line) => !expected.includes(line)).map((line) => `unexpected: ${line}`);
  return [...missing, ...extra].join("; ");
}
