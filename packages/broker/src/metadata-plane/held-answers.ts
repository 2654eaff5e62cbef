import { DELETING, MAKING, PURGES } from "./partition-operations.ts";

/** Whom it asks. */
export interface HeldAnswersOptions {
  /** True on a node of a cluster of several. */
  readonly isReplicated: boolean;
  /**
   * Settles with true once so many nodes have executed an op that the others commit nothing any more by what
   * was before it; with false when nobody can tell. Given on a node of a cluster.
   */
  readonly isExecutedByMajority?: ((op: number) => Promise<boolean>) | undefined;
  /** Settles when the purges that this node has heard of are done; with false when nobody on it can tell. */
  purgesHeld(): Promise<boolean>;
}

/**
 * Which answers of the metadata group wait for more than that their op was executed here: those of which a
 * client may find out on another node that they do not hold there yet (ADR 0055, 0062).
 */
export class HeldAnswers {
  readonly #options: HeldAnswersOptions;
  /** Op of the last deletion of partitions, or a later one: of those before the start nothing is known. */
  #deletedAt: number;

  constructor(options: HeldAnswersOptions, executed: number) {
    this.#options = options;
    this.#deletedAt = executed;
  }

  /** All ops up to this one were executed elsewhere; deletions may be among them. */
  jumpedTo(op: number): void {
    this.#deletedAt = op;
  }

  /**
   * For the answer to an op that is executed now. To be called for each that changes partitions, in order.
   *
   * @param isAsked  whether somebody waits for it on this node
   * @returns settles with false when nobody can tell; nothing where there is nothing to wait for
   */
  afterExecuting(op: number, operation: number, isAsked: boolean): Promise<boolean> | undefined {
    if (DELETING.has(operation)) this.#deletedAt = op;
    return isAsked ? this.#deletedFor(operation, op) : undefined;
  }

  /** The same for the answer to an op that was executed before: the first may have been that nobody knows. */
  whenRepeated(op: number, operation: number): Promise<boolean> | undefined {
    if (!this.#options.isReplicated) return undefined;
    return PURGES.has(operation) ? this.#options.purgesHeld() : this.#deletedFor(operation, op);
  }

  /** What makes partitions is answered behind the deletions in front of it: the names may be the same. */
  #deletedFor(operation: number, op: number): Promise<boolean> | undefined {
    const { isExecutedByMajority } = this.#options;
    if (DELETING.has(operation)) return isExecutedByMajority?.(op);
    return MAKING.has(operation) ? isExecutedByMajority?.(this.#deletedAt) : undefined;
  }
}
