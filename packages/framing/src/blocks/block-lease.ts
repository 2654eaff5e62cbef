import { assert } from "@millrace/errors";
import type { KernelMemory } from "../checksum/checksum-kernel.ts";
import type { Lease, LeaseHome } from "./lease.ts";

/** A run of blocks handed out together. Free again when its last lease is gone. */
export interface BlockRun {
  readonly memory: KernelMemory;
  readonly firstBlock: number;
  readonly blockCount: number;
  /** Leases on the run that are still held. */
  leases: number;
  /** The pool counts leases that come and go. */
  onLeased(): void;
  onReleased(run: BlockRun): void;
}

/**
 * A lease on bytes of a run. Its views are made when first asked for, so a lease nobody reads costs little.
 */
export class BlockLease implements Lease {
  readonly position: number;
  readonly length: number;
  readonly #run: BlockRun;
  #holds = 1;
  #bytes: Uint8Array | undefined;
  #view: DataView | undefined;

  constructor(run: BlockRun, position: number, length: number) {
    this.#run = run;
    this.position = position;
    this.length = length;
    run.leases++;
    run.onLeased();
  }

  get home(): LeaseHome {
    this.#assertHeld();
    return this.#run.memory;
  }

  get homePosition(): number {
    return this.position;
  }

  get bytes(): Uint8Array {
    this.#assertHeld();
    this.#bytes ??= this.#run.memory.bytes.subarray(this.position, this.position + this.length);
    return this.#bytes;
  }

  get view(): DataView {
    this.#assertHeld();
    this.#view ??= new DataView(this.#run.memory.bytes.buffer, this.position, this.length);
    return this.#view;
  }

  retain(): void {
    this.#assertHeld();
    this.#holds++;
  }

  release(): void {
    this.#assertHeld();
    this.#holds--;
    if (this.#holds > 0) return;
    this.#run.leases--;
    this.#run.onReleased(this.#run);
  }

  part(start: number, length: number): Lease {
    this.#assertHeld();
    assert(start >= 0 && length >= 0 && start + length <= this.length, "a part lies inside its lease");
    return new BlockLease(this.#run, this.position + start, length);
  }

  #assertHeld(): void {
    assert(this.#holds > 0, "a released lease is not used or released again");
  }
}
