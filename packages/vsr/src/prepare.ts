/** What a host asks the group to agree on: one client's request, already admitted by the host. */
export interface Request {
  /** The client's id, u128; `SERVER_CLIENT` for what the host itself asks for. */
  readonly client: bigint;
  /** Op of the Register that opened the session; 0 for a Register itself. */
  readonly session: number;
  /** The client's request number, u64; 0 for a Register. */
  readonly request: bigint;
  readonly operation: number;
  readonly user: number;
  /** Primary's wall clock in microseconds. The group copies it and never reads a clock. */
  readonly timestamp: number;
  /** Opaque: handed back in `journal-write`, `apply` and `reply`, never looked into. */
  readonly body: unknown;
  /** Checksum of the body as the client sent it; 0n where the client gave none. */
  readonly bodyChecksum: bigint;
}

/**
 * What the checksum of a prepare must cover. `parent` chains each op to the one before it.
 *
 * An injected `checksumOf` hashes, little-endian and in this order: `view` u32, `op` u64, `parent` u128,
 * `client` u128, `session` u64, `request` u64, `operation` u8, `user` u32, `timestamp` u64, `bodyChecksum`
 * u128. `body` is there for hosts whose request carries no checksum of its own.
 */
export interface PrepareFields extends Request {
  /** View in which the op got its number. */
  readonly view: number;
  /** Place in the group's log, from 1. */
  readonly op: number;
  /** Checksum of op - 1; 0n for the first op. */
  readonly parent: bigint;
}

/** An op on its way: what is journaled, replicated, committed and applied. */
export interface Prepare extends PrepareFields {
  readonly checksum: bigint;
  /** Replica that numbered the op. Not under the checksum. */
  readonly replica: number;
  /** Highest committed op of that replica when it did. Not under the checksum. */
  readonly commit: number;
}

/** Client id of requests without a session: the host's own. No client may use it. */
export const SERVER_CLIENT = 0n;

/** Operations the group itself understands; it never looks at the meaning of others. */
export const SessionOperation = { register: 1, logout: 3 } as const;
