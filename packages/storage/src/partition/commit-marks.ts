/** Who waits until the journal says how far it is committed, and what it says now. */
export class CommitMarks {
  #said: number;
  #waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];

  /** @param said  the highest commit that a record found in the journal names */
  constructor(said: number) {
    this.#said = said;
  }

  /** True while a mark is to be written. */
  get isAsked(): boolean {
    return this.#waiting.length > 0;
  }

  /** A record was written that says that everything up to `commit` is committed. */
  note(commit: number): void {
    if (commit > this.#said) this.#said = commit;
  }

  /** True when the journal says already that everything up to `commit` is committed. */
  says(commit: number): boolean {
    return this.#said >= commit;
  }

  /** Settles when the next mark is written, or could not be. */
  ask(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Tells those that wait how the writing of the mark ended. */
  settle(error?: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { resolve, reject } of waiting) {
      if (error === undefined) resolve();
      else reject(error);
    }
  }
}
