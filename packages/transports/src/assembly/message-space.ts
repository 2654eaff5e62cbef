import type { Lease, LeaseSource } from "@millrace/framing";
import { RoomQueue } from "./room-queue.ts";

/** Where the bytes of messages that come in are put. */
export interface MessageSpace {
  /** Exactly `length` bytes for one message, held once; undefined when there is no room now. */
  take(length: number): Lease | undefined;
  /** Calls back once when there may be room again. */
  onAvailable(callback: () => void): void;
  /** The callback waits no longer. */
  forget(callback: () => void): void;
}

/** Every message has bytes of its own: for clients, whose messages the garbage collector takes back. */
export class ExactSpace implements MessageSpace {
  readonly #leases: LeaseSource;
  readonly #queue: RoomQueue;

  constructor(leases: LeaseSource) {
    this.#leases = leases;
    this.#queue = new RoomQueue(leases);
  }

  take(length: number): Lease | undefined {
    const run = this.#leases.allocate(length);
    if (run === undefined || run.length === length) return run;
    return onlyPart(run, length);
  }

  onAvailable(callback: () => void): void {
    this.#queue.add(callback);
  }

  forget(callback: () => void): void {
    this.#queue.remove(callback);
  }
}

/**
 * Messages of all connections of one listener side by side in the same block, so that a thousand connections
 * with small messages need a handful of blocks. A message's whole range is taken when its length is known:
 * once begun, it never waits for room again, and its bytes are never moved.
 */
export class SharedSpace implements MessageSpace {
  readonly #leases: LeaseSource;
  readonly #queue: RoomQueue;
  #block: Lease | undefined;
  #used = 0;

  constructor(leases: LeaseSource) {
    this.#leases = leases;
    this.#queue = new RoomQueue(leases);
  }

  /** Connections that wait for room now. */
  get waitingCount(): number {
    return this.#queue.length;
  }

  take(length: number): Lease | undefined {
    if (this.#block !== undefined && length <= this.#block.length - this.#used) {
      this.#used += length;
      return this.#block.part(this.#used - length, length);
    }
    const run = this.#leases.allocate(length) ?? this.#allocateAlone(length);
    if (run === undefined) return undefined;
    if (run.length - length <= this.#restLength()) return onlyPart(run, length);
    const filledBlock = this.#block;
    this.#block = run;
    this.#used = length;
    const messageLease = run.part(0, length);
    filledBlock?.release();
    return messageLease;
  }

  onAvailable(callback: () => void): void {
    this.#queue.add(callback);
  }

  forget(callback: () => void): void {
    this.#queue.remove(callback);
  }

  /**
   * Lets go of the block that is being filled; the next message begins a new one. Whoever waits for room may
   * take some within the call, so nothing here may still point at the block.
   */
  release(): void {
    const filledBlock = this.#block;
    this.#block = undefined;
    this.#used = 0;
    filledBlock?.release();
  }

  /** Gives up the block that is being filled, which may be what a long message lacks. */
  #allocateAlone(length: number): Lease | undefined {
    if (this.#block === undefined) return undefined;
    this.release();
    return this.#leases.allocate(length);
  }

  #restLength(): number {
    return this.#block === undefined ? -1 : this.#block.length - this.#used;
  }
}

/** The first `length` bytes of a run as its only lease. */
function onlyPart(run: Lease, length: number): Lease {
  const part = run.part(0, length);
  run.release();
  return part;
}
