import assert from "node:assert/strict";

/** One commit of a group's offset in one partition, from its first try on. */
export interface Commit {
  /** Of a poll that commits what it brings: it never takes the offset back. */
  readonly isForward: boolean;
  /** Nothing as long as it is not known what a poll has brought. */
  offset: number | undefined;
  readonly begun: number;
  /** When it was answered with success; nothing as long as it was not. */
  accepted: number | undefined;
  /** Nothing was committed, by any try. */
  isRefused: boolean;
  /** When its client gave it up without an answer. */
  lostMs: number | undefined;
}

/** Whether a poll that nobody has the answer of may have brought a message. */
export type MayBring = (poll: Commit, offset: number) => boolean;

/** The commits of a group in one partition, in the order in which their members began and ended them. */
export class GroupCommits {
  readonly #label: string;
  readonly #commits = new Set<Commit>();
  #now = 0;

  constructor(label: string) {
    this.#label = label;
  }

  /** Highest offset that is known to be committed, or that may be; -1 when none is. */
  get highest(): number {
    return Math.max(-1, ...[...this.#commits].map(({ offset }) => offset ?? -1));
  }

  /** Polls that commit what they bring, and of which nobody knows yet, or ever, what that is. */
  get unknownPolls(): readonly Commit[] {
    return [...this.#commits].filter(({ offset }) => offset === undefined);
  }

  /** Somebody stored an offset, which may have taken it back. */
  get hasStores(): boolean {
    return [...this.#commits].some(({ isForward }) => !isForward);
  }

  begin(offset: number): Commit {
    return this.#begin({ isForward: false, offset });
  }

  /** A poll begins that commits what it brings. */
  beginPoll(): Commit {
    return this.#begin({ isForward: true, offset: undefined });
  }

  #begin(what: Pick<Commit, "isForward" | "offset">): Commit {
    this.#now += 1;
    const open = { begun: this.#now, accepted: undefined, isRefused: false, lostMs: undefined };
    const commit: Commit = { ...what, ...open };
    this.#commits.add(commit);
    return commit;
  }

  /** It was answered; with what a poll has brought last. */
  accept(commit: Commit, offset = commit.offset): void {
    this.#now += 1;
    commit.accepted = this.#now;
    commit.offset = offset;
  }

  /** It was refused for good, by every try: it is as if it had not been. */
  refuse(commit: Commit): void {
    assert.equal(commit.accepted, undefined);
    commit.isRefused = true;
    this.#commits.delete(commit);
  }

  /**
   * What is stored at the end: the offset of a commit behind which no other was begun and accepted, or what
   * polls have made of that: those behind it never less, those beside it and those of unknown outcome more.
   */
  finally(offset: number | undefined, mayBring: MayBring = () => false): void {
    const all = [...this.#commits];
    const stores = all.filter(({ isForward }) => !isForward);
    const begunLast = Math.max(
      0,
      ...stores.map(({ begun, accepted }) => (accepted === undefined ? 0 : begun)),
    );
    const last: (Commit | undefined)[] = stores.filter(
      ({ accepted = Number.POSITIVE_INFINITY }) => accepted >= begunLast,
    );
    if (begunLast === 0) last.push(undefined);
    const polls = all.filter(({ isForward }) => isForward);
    const ends = last.map((one) => endsBehind(one, polls));
    const isPossible = ends.some(
      ({ least, polls }) =>
        offset === least ||
        (offset !== undefined && polls.some((poll) => isMadeBy(poll, offset, least, mayBring))),
    );
    const known = ends.flatMap(({ least, polls }) => [least, ...polls.map((poll) => poll.offset)]);
    const text = `${this.#label} keeps the group's offset: ${offset} is one of ${[...new Set(known)]}`;
    assert.ok(isPossible, text);
  }
}

/** What is stored when this one, or none, was the last store: so much, or what a poll makes of it. */
function endsBehind(store: Commit | undefined, polls: readonly Commit[]) {
  const storedAt = store === undefined ? 0 : (store.accepted ?? Number.POSITIVE_INFINITY);
  const behind = polls.filter(({ begun, accepted }) => accepted !== undefined && begun > storedAt);
  const offsets = [store, ...behind].flatMap((one) => (one?.offset === undefined ? [] : [one.offset]));
  const isBefore = ({ accepted }: Commit) => accepted !== undefined && accepted < (store?.begun ?? 0);
  return {
    least: offsets.length === 0 ? undefined : Math.max(...offsets),
    polls: polls.filter((poll) => !behind.includes(poll) && !isBefore(poll)),
  };
}

function isMadeBy(poll: Commit, offset: number, least: number | undefined, mayBring: MayBring): boolean {
  if (offset <= (least ?? -1)) return false;
  return poll.offset === undefined ? mayBring(poll, offset) : poll.offset === offset;
}
