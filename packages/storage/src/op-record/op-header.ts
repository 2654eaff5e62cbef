/** Operations a partition's journal understands; the same numbers as on the wire and in consensus. */
export const StorageOperation = {
  batch: 160,
  storeOffset: 161,
  deleteOffset: 162,
  truncate: 68,
  purge: 200,
} as const;

/**
 * What consensus says about one op, stored beside it and handed back unchanged.
 *
 * `checksum` names the op, `parent` names the op before it, `timestamp` is the primary's, in micros. `op`,
 * `view`, `user` and `timestamp` are numbers below 2^53 (`view` and `user` below 2^32), `operation` is one
 * byte.
 */
export interface OpHeader {
  readonly op: number;
  readonly view: number;
  readonly parent: bigint;
  readonly checksum: bigint;
  readonly operation: number;
  readonly client: bigint;
  readonly request: bigint;
  readonly user: number;
  readonly timestamp: number;
}
