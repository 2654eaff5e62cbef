import type { StatePart } from "@millrace/protocol";

/** A group's state as of a committed op, in parts. */
export interface StateManifest {
  readonly op: number;
  /** Of the prepare of `op`. */
  readonly checksum: bigint;
  readonly parts: readonly StatePart[];
}

/** A state that is kept for another node until it is closed. */
export interface OfferedState extends StateManifest {
  /**
   * Some bytes of a part, which are the caller's. One at a time.
   * @throws CodedError when they are not there any more, or the disk refuses
   */
  read(part: StatePart, place: { readonly position: number; readonly length: number }): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Where the state of one of this node's groups comes from. */
export interface StateSource {
  /**
   * The state as it is now.
   * @returns nothing when no state can be told just now
   * @throws CodedError why this replica has no state to give
   */
  offer(): Promise<OfferedState | undefined>;
}

/** Where the state of a group goes that another node gives. Its calls follow each other. */
export interface StateSink {
  /**
   * @returns bytes of each part that are here already, from a transfer before: those behind them are to come
   * @throws CodedError when the parts are not those of such a group; what the disk answers
   */
  begin(manifest: StateManifest): Promise<readonly number[]>;
  /** Takes bytes of a part, in order; they are lent until this settles. */
  write(part: StatePart, position: number, bytes: Uint8Array): Promise<void>;
  /**
   * Everything is there: checks it, and puts it in the place of the group's own state.
   * @throws CodedError when it is not what it should be; the group is as it was
   */
  finish(): Promise<void>;
  /** The transfer broke off: what came may be of use to the next one. */
  keep(): Promise<void>;
  /** Lets go of what came, if anything did. */
  discard(): Promise<void>;
}
