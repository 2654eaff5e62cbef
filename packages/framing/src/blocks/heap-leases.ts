import { assert } from "@millrace/errors";
import { viewOf } from "../wide-integer.ts";
import type { Lease, LeaseHome, LeaseSource } from "./lease.ts";

/** Leases on plain bytes that the garbage collector takes back: for clients. Never exhausted. */
export class HeapLeases implements LeaseSource {
  allocate(length: number): Lease {
    return new HeapLease(new Uint8Array(length));
  }

  onAvailable(callback: () => void): void {
    callback();
  }
}

/** A lease whose `release` does nothing. */
class HeapLease implements Lease {
  readonly bytes: Uint8Array;
  readonly position = -1;
  readonly homePosition = 0;
  #view: DataView | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get view(): DataView {
    this.#view ??= viewOf(this.bytes);
    return this.#view;
  }

  get length(): number {
    return this.bytes.byteLength;
  }

  get home(): LeaseHome {
    return this;
  }

  retain(): void {}

  release(): void {}

  part(start: number, length: number): Lease {
    assert(start >= 0 && length >= 0 && start + length <= this.length, "a part lies inside its lease");
    return new HeapLease(this.bytes.subarray(start, start + length));
  }
}
