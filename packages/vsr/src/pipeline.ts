import { assert } from "@millrace/errors";
import type { Prepare } from "./prepare.ts";

/** The deepest among several replicas: a view change must name its ops in one message's bitmap. */
export const PIPELINE_DEPTH_MAX = 127;
/** The deepest one of a replica that is alone: as many as a group of writes takes. */
export const PIPELINE_ALONE_DEPTH_MAX = 4096;

/** One op between its prepare and its end. */
export interface Pending {
  readonly prepare: Prepare;
  /** In this replica's own journal. */
  written: boolean;
  /** Bit r is set when replica r has said prepareOk. */
  oks: number;
}

/**
 * The ops in flight, a contiguous run, in a ring of slots indexed by op. The deeper one of a replica that is
 * alone begins with as many slots as the others have and doubles them when they are taken.
 *
 * Adding, finding and releasing cost one array access and allocate only the `Pending`.
 */
export class Pipeline {
  readonly depth: number;
  #slots: (Pending | undefined)[];
  /** Highest op that left the pipeline. */
  #floor: number;
  #last: number;

  /** Empty, standing after `op`. */
  constructor(depth: number, op: number) {
    assert(
      Number.isInteger(depth) && depth >= 1 && depth <= PIPELINE_ALONE_DEPTH_MAX,
      "a pipeline is 1 to 4096 ops deep",
    );
    this.depth = depth;
    this.#slots = emptySlots(Math.min(PIPELINE_DEPTH_MAX, depth));
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
    if (this.count === this.#slots.length) this.#grow();
    this.#slots[prepare.op % this.#slots.length] = { prepare, written: false, oks: 0 };
    this.#last = prepare.op;
  }

  /** The pending op, or undefined when it has left or never came. */
  get(op: number): Pending | undefined {
    return op > this.#floor && op <= this.#last ? this.#slots[op % this.#slots.length] : undefined;
  }

  /** Lets go of the oldest op. */
  releaseFirst(): void {
    assert(this.#last > this.#floor, "there is an op to release");
    this.#floor += 1;
    this.#slots[this.#floor % this.#slots.length] = undefined;
  }

  /** Lets go of everything above `op`; what is not there is gone already. */
  cutTo(op: number): void {
    for (; this.#last > Math.max(op, this.#floor); this.#last -= 1) {
      this.#slots[this.#last % this.#slots.length] = undefined;
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
      const pending = this.#slots[op % this.#slots.length];
      if (pending !== undefined) visit(pending);
    }
  }

  /** The newest pending op for which `test` holds. Linear in the depth; for the metadata plane only. */
  findLast(test: (prepare: Prepare) => boolean): Prepare | undefined {
    for (let op = this.#last; op > this.#floor; op -= 1) {
      const pending = this.#slots[op % this.#slots.length];
      if (pending !== undefined && test(pending.prepare)) return pending.prepare;
    }
    return undefined;
  }

  /** How many pending ops satisfy `test`. */
  countOf(test: (prepare: Prepare) => boolean): number {
    let count = 0;
    for (let op = this.#floor + 1; op <= this.#last; op += 1) {
      const pending = this.#slots[op % this.#slots.length];
      if (pending !== undefined && test(pending.prepare)) count += 1;
    }
    return count;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = emptySlots(Math.min(this.depth, before.length * 2));
    for (const pending of before) {
      if (pending !== undefined) this.#slots[pending.prepare.op % this.#slots.length] = pending;
    }
  }
}

function emptySlots(count: number): (Pending | undefined)[] {
  return new Array<Pending | undefined>(count).fill(undefined);
}
