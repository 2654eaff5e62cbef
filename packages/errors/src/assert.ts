/** A broken invariant: we are wrong, not the world. Whoever sees one stops. */
export class InvariantError extends Error {
  constructor(fact: string) {
    super(`broken invariant: ${fact}`);
    this.name = "InvariantError";
  }
}

/**
 * Stops when a fact that must hold does not. On in production.
 *
 * Bytes from a peer, a client or a disk never reach an `assert`; they get a `CodedError`.
 * @param fact names what must hold, as a true sentence
 * @throws InvariantError when `condition` is false
 */
export function assert(condition: boolean, fact: string): asserts condition {
  if (!condition) throw new InvariantError(fact);
}
