/** What the forming of a cluster needs. */
export interface FormationOptions {
  readonly replica: number;
  readonly replicaCount: number;
  /** Names this start of an empty directory: drawn anew each time, 1 to 2^53 - 1. */
  readonly start: number;
  send(to: number, starts: readonly number[]): void;
  /** Called once: every node of the cluster started with an empty directory, so there is nothing to lose. */
  formed(): void;
}

/**
 * Tells a cluster that begins from a node whose directory was lost.
 *
 * A node with an empty directory may have promised the others something it has forgotten, so it does not take
 * part before they have told it what to respect. When all of them are empty nobody could tell anybody. So
 * each
 * tells all the others which starts of empty directories it has heard of; whoever knows of all of them, at
 * their
 * present start, begins. A node that has begun says no longer that it is empty, but of which starts the
 * cluster
 * formed: that lets in whoever was among them and missed it, and nobody who came later.
 */
export class Formation {
  readonly #options: FormationOptions;
  readonly #heard: number[];
  #formedOf: readonly number[] | undefined;

  constructor(options: FormationOptions) {
    this.#options = options;
    this.#heard = new Array(options.replicaCount).fill(0);
    this.#heard[options.replica] = options.start;
  }

  /** True until the cluster is formed. */
  get isOpen(): boolean {
    return this.#formedOf === undefined;
  }

  /** Nodes of whose starts nothing was heard yet. */
  get unheard(): number[] {
    return this.#heard.flatMap((start, replica) => (start > 0 ? [] : [replica]));
  }

  /** Tells everybody; to be repeated while it is open and the node has not been taken in. */
  tell(): void {
    const { replica, replicaCount, send } = this.#options;
    for (let to = 0; to < replicaCount; to += 1) if (to !== replica) send(to, this.#heard);
  }

  /** A node tells which starts it has heard of, or the cluster formed of. */
  onStarts(from: number, starts: readonly number[]): void {
    const { replica, replicaCount, start, send } = this.#options;
    if (starts.length !== replicaCount) return;
    if (this.#formedOf !== undefined) {
      if (!isFull(starts)) send(from, this.#formedOf);
      return;
    }
    if (isFull(starts)) {
      if (starts[replica] === start) this.#form(starts);
      return;
    }
    this.#heard[from] = starts[from] ?? 0;
    if (isFull(this.#heard)) this.#form([...this.#heard]);
  }

  #form(starts: readonly number[]): void {
    this.#formedOf = starts;
    this.tell();
    this.#options.formed();
  }
}

function isFull(starts: readonly number[]): boolean {
  return starts.every((start) => start > 0);
}
