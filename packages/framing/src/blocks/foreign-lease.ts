import { assert } from "@millrace/errors";
import type { KernelMemory } from "../checksum/checksum-kernel.ts";
import type { Lease, LeaseHome } from "./lease.ts";

/**
 * A lease on bytes of the memory that somebody else's pool handed out: another shard's. He keeps his own hold
 * until he is told that this one is over.
 */
export class ForeignLease implements Lease {
  readonly position: number;
  readonly length: number;
  readonly #memory: KernelMemory;
  readonly #onReleased: () => void;
  #holds = 1;

  /** @param onReleased  called once, with the last release of the range and its parts */
  constructor(
    memory: KernelMemory,
    range: { readonly position: number; readonly length: number },
    onReleased: () => void,
  ) {
    this.#memory = memory;
    this.position = range.position;
    this.length = range.length;
    this.#onReleased = onReleased;
  }

  /** True once the last hold is gone. */
  get isReleased(): boolean {
    return this.#holds === 0;
  }

  get home(): LeaseHome {
    this.#assertHeld();
    return this.#memory;
  }

  get homePosition(): number {
    return this.position;
  }

  get bytes(): Uint8Array {
    this.#assertHeld();
    return this.#memory.bytes.subarray(this.position, this.position + this.length);
  }

  get view(): DataView {
    this.#assertHeld();
    return new DataView(this.#memory.bytes.buffer, this.position, this.length);
  }

  retain(): void {
    this.#assertHeld();
    this.#holds++;
  }

  release(): void {
    this.#assertHeld();
    this.#holds--;
    if (this.#holds === 0) this.#onReleased();
  }

  part(start: number, length: number): Lease {
    this.#assertHeld();
    assert(start >= 0 && length >= 0 && start + length <= this.length, "a part lies inside its lease");
    this.#holds++;
    return new ForeignLease(this.#memory, { position: this.position + start, length }, () => this.release());
  }

  #assertHeld(): void {
    assert(this.#holds > 0, "a released lease is not used or released again");
  }
}
