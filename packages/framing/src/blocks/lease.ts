/**
 * A range of bytes held for a while. Whoever keeps it past the call that handed it over calls `retain()`,
 * whoever holds it calls `release()` once; the bytes are anybody's after the last release.
 */
export interface Lease {
  /** The range itself, not a copy. */
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** First byte in the kernel's memory; -1 when the bytes are not there. */
  readonly position: number;
  readonly length: number;
  /**
   * The memory the range lies in, and where in it. Who reads a few fields takes these: `bytes` and `view` are
   * two
   * objects per lease.
   */
  readonly home: LeaseHome;
  readonly homePosition: number;
  /** Holds the bytes once more. */
  retain(): void;
  /** Lets one hold go. */
  release(): void;
  /** A lease of its own on a part of this range, held once; `start` counts from the start of this range. */
  part(start: number, length: number): Lease;
}

/** Memory that leases are ranges of. */
export interface LeaseHome {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** Where leases come from. */
export interface LeaseSource {
  /** At least `length` bytes with old content, held once; undefined when none are free now. */
  allocate(length: number): Lease | undefined;
  /** Calls back once, when there is something free again; ask anew then, for others were waiting too. */
  onAvailable(callback: () => void): void;
}
