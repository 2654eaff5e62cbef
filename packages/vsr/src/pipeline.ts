import { assert } from "@millrace/errors";
import type { Prepare } from "./prepare.ts";

/** The deepest a pipeline may be: a view change must name its ops in one message's bitmap. */
export const PIPELINE_DEPTH_MAX = 127;

/** One op between its prepare and its end. */
export interface Pending {
  readonly prepare: Prepare;
  /** In this replica's own journal. */
  written: boolean;
  /** Bit r is set when replica r has said prepareOk. */
  oks: number;
}

/**
 * The ops in flight, a contiguous run, in a ring of `depth` slots indexed by op.
 *
 * Adding, finding and releasing cost one array access and allocate only the `Pending`.
 */
export class Pipeline {
  readonly depth: number;
  readonly #slots: (Pending | undefined)[];
  /** Highest op that left the pipeline. */
  #floor: number;
  #last: number;

  /** Empty, standing after `op`. */
  constructor(depth: number, op: number) {
    assert(
      Number.isInteger(depth) && depth >= 1 && depth <= PIPELINE_DEPTH_MAX,
      "a pipeline is 1 to 127 ops deep",
    );
    this.depth = depth;
    this.#slots = new Array<Pending | undefined>(depth).fill(undefined);
    this.#floor = op;
    this.#last = op;
  }

  /** Ops in it. */
  get count(): number {
    return this.#last - this.#floor;
  }

  /** Ops that fit before the next release. */
  get free(): number {
    return this.depth - this.count;
  }

  /** Adds the op after the last one. */
  push(prepare: Prepare): void {
    assert(prepare.op === this.#last + 1, "ops enter the pipeline in order");
    assert(this.free > 0, "the pipeline has room for the op");
    this.#slots[prepare.op % this.depth] = { prepare, written: false, oks: 0 };
    this.#last = prepare.op;
  }

  /** The pending op, or undefined when it has left or never came. */
  get(op: number): Pending | undefined {
    return op > this.#floor && op <= this.#last ? this.#slots[op % this.depth] : undefined;
  }

  /** Lets go of the oldest op. */
  releaseFirst(): void {
    assert(this.#last > this.#floor, "there is an op to release");
    this.#floor += 1;
    this.#slots[this.#floor % this.depth] = undefined;
  }

  /** Lets go of everything above `op`; what is not there is gone already. */
  cutTo(op: number): void {
    for (; this.#last > Math.max(op, this.#floor); this.#last -= 1) {
      this.#slots[this.#last % this.depth] = undefined;
    }
  }

  /** Empty, standing after `op`. */
  reset(op: number): void {
    this.#slots.fill(undefined);
    this.#floor = op;
    this.#last = op;
  }

  /** Calls `visit` for each op, oldest first. */
  forEach(visit: (pending: Pending) => void): void {
    for (let op = this.#floor + 1; op <= this.#last; op += 1) {
      const pending = this.#slots[op % this.depth];
      if (pending !== undefined) visit(pending);
    }
  }

  /** The newest pending op for which `test` holds. Linear in the depth; for the metadata plane only. */
  findLast(test: (prepare: Prepare) => boolean): Prepare | undefined {
    for (let op = this.#last; op > this.#floor; op -= 1) {
      const pending = this.#slots[op % this.depth];
      if (pending !== undefined && test(pending.prepare)) return pending.prepare;
    }
    return undefined;
  }

  /** How many pending ops satisfy `test`. */
  countOf(test: (prepare: Prepare) => boolean): number {
    let count = 0;
    for (let op = this.#floor + 1; op <= this.#last; op += 1) {
      const pending = this.#slots[op % this.depth];
      if (pending !== undefined && test(pending.prepare)) count += 1;
    }
    return count;
  }
}
