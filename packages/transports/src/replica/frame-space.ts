import { HeapLeases, type Lease, type LeaseSource } from "@millrace/framing";
import { type MessageSpace, SharedSpace } from "../assembly/message-space.ts";

/**
 * Frames up to this length get bytes of their own when the memory of messages is full. Messages of clients
 * wait there until other replicas have answered for them: those answers, which are shorter, must not wait
 * for them.
 */
const SPARE_LENGTH_MAX = 4096;

/** Where frames of all peers are put. */
export class FrameSpace implements MessageSpace {
  readonly #shared: SharedSpace;
  readonly #heap = new HeapLeases();

  constructor(leases: LeaseSource) {
    this.#shared = new SharedSpace(leases);
  }

  take(length: number): Lease | undefined {
    return (
      this.#shared.take(length) ?? (length <= SPARE_LENGTH_MAX ? this.#heap.allocate(length) : undefined)
    );
  }

  onAvailable(callback: () => void): void {
    this.#shared.onAvailable(callback);
  }

  forget(callback: () => void): void {
    this.#shared.forget(callback);
  }

  /** Lets go of the block that is being filled. */
  release(): void {
    this.#shared.release();
  }
}
