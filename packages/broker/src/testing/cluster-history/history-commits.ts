import assert from "node:assert/strict";

/** One commit of a group's offset in one partition, from its first try on. */
export interface Commit {
  readonly offset: number;
  readonly begun: number;
  /** When it was answered with success; nothing as long as it was not. */
  accepted: number | undefined;
}

/** The commits of a group in one partition, in the order in which their members began and ended them. */
export class GroupCommits {
  readonly #label: string;
  readonly #commits = new Set<Commit>();
  #now = 0;

  constructor(label: string) {
    this.#label = label;
  }

  /** Highest offset that may be committed, -1 when none is. */
  get highest(): number {
    return Math.max(-1, ...[...this.#commits].map(({ offset }) => offset));
  }

  begin(offset: number): Commit {
    this.#now += 1;
    const commit = { offset, begun: this.#now, accepted: undefined };
    this.#commits.add(commit);
    return commit;
  }

  accept(commit: Commit): void {
    this.#now += 1;
    commit.accepted = this.#now;
  }

  /** It was refused for good, by every try: it is as if it had not been. */
  refuse(commit: Commit): void {
    assert.equal(commit.accepted, undefined);
    this.#commits.delete(commit);
  }

  /** What is stored at the end: a commit behind which none was begun and accepted. */
  finally(offset: number | undefined): void {
    const commits = [...this.#commits];
    const begunLast = Math.max(
      0,
      ...commits.map(({ begun, accepted }) => (accepted === undefined ? 0 : begun)),
    );
    const last = commits.filter(({ accepted }) => accepted === undefined || accepted >= begunLast);
    const possible: (number | undefined)[] = last.map((one) => one.offset);
    if (begunLast === 0) possible.push(undefined);
    const text = `${this.#label} keeps the group's offset: ${offset} is one of ${possible}`;
    assert.ok(possible.includes(offset), text);
  }
}
