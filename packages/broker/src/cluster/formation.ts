/** What the forming of a cluster needs. */
export interface FormationOptions {
  readonly replica: number;
  readonly replicaCount: number;
  /** Names this start of an empty directory: drawn anew each time, 1 to 2^53 - 1. */
  readonly start: number;
  send(to: number, starts: readonly number[]): void;
  /**
   * True while the node has nothing to lose: it has never spoken, and the others have not taken it in. Once
   * false it stays so.
   */
  isEmpty(): boolean;
  /** Called once: every node of the cluster started with an empty directory, so there is nothing to lose. */
  formed(): void;
}

/**
 * Tells a cluster that begins from a node whose directory was lost.
 *
 * A node with an empty directory may have promised the others something it has forgotten, so it does not take
 * part before they have told it what to respect. When all of them are empty nobody could tell anybody. So
 * each tells all the others which starts of empty directories it has heard of; whoever knows of all of them,
 * at their present start, begins. A node that has begun says no longer that it is empty, but of which starts
 * the cluster formed: that lets in whoever was among them and missed it, and nobody who came later.
 *
 * A node that is not empty, or not any more, answers those who are that it is not: where one has something
 * to lose no cluster forms, however many directories were lost one after another.
 */
export class Formation {
  readonly #options: FormationOptions;
  readonly #heard: number[];
  #formedOf: readonly number[] | undefined;

  constructor(options: FormationOptions) {
    this.#options = options;
    this.#heard = nobody(options.replicaCount);
    this.#heard[options.replica] = options.start;
  }

  /** True until the cluster is formed, or has taken this node in: it had formed before. */
  get isOpen(): boolean {
    return this.#formedOf === undefined && this.#options.isEmpty();
  }

  /** Nodes of whose starts nothing was heard yet. */
  get unheard(): number[] {
    return this.#heard.flatMap((start, replica) => (start > 0 ? [] : [replica]));
  }

  /** Tells everybody; to be repeated while it is open. */
  tell(): void {
    const { replica, replicaCount, send } = this.#options;
    for (let to = 0; to < replicaCount; to += 1) if (to !== replica) send(to, this.#heard);
  }

  /**
   * A node tells which starts it has heard of, or the cluster formed of; 0 for itself when it is not empty.
   */
  onStarts(from: number, starts: readonly number[]): void {
    const { replica, replicaCount, start, send } = this.#options;
    if (starts.length !== replicaCount) return;
    const ofSender = starts[from] ?? 0;
    if (!this.isOpen) {
      const answer = this.#formedOf ?? nobody(replicaCount);
      if (ofSender > 0 && !isFull(starts)) send(from, answer);
      return;
    }
    if (isFull(starts)) {
      if (starts[replica] === start) this.#form(starts);
      else this.#heard[from] = 0;
      return;
    }
    this.#heard[from] = ofSender;
    if (isFull(this.#heard)) this.#form([...this.#heard]);
  }

  #form(starts: readonly number[]): void {
    this.#formedOf = starts;
    this.tell();
    this.#options.formed();
  }
}

function nobody(replicaCount: number): number[] {
  return new Array(replicaCount).fill(0);
}

function isFull(starts: readonly number[]): boolean {
  return starts.every((start) => start > 0);
}
