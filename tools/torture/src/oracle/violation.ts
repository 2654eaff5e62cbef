/** What kind of promise was broken. */
export type ViolationKind =
  /** Acknowledged, or seen by a reader, and not there any more. */
  | "lost"
  /** At another offset or partition than the one acknowledged or seen. */
  | "moved"
  /** At its own place and at another one. */
  | "doubled"
  /** Other bytes than were sent. */
  | "altered"
  /** An offset was given to a second message. */
  | "reused"
  /** Offsets of one read do not rise, or one connection's batches changed places. */
  | "order"
  /** Something that was known to be gone, purged or never written is there. */
  | "returned"
  /** No order of what clients did to a register explains what they found. */
  | "not-linearizable"
  /** A message nobody sent. */
  | "never-sent"
  /** A read or answer that contradicts itself, for example empty before the end. */
  | "answer"
  /** A stored consumer offset below the last acknowledged or above the last attempted. */
  | "consumer-offset"
  /** No member of a consumer group handled it, or not in time. */
  | "unread"
  /** Streams, topics or partitions differ from the acknowledged operations. */
  | "catalog"
  /** The server did not start, ended by itself, or did not answer in time. */
  | "server";

/** A broken promise, said precisely enough to look it up in the data directory. */
export class Violation extends Error {
  readonly kind: ViolationKind;

  constructor(kind: ViolationKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "Violation";
    this.kind = kind;
  }
}

/** Whatever a job ended with, as a violation. */
export function asViolation(error: unknown): Violation {
  if (error instanceof Violation) return error;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new Violation("answer", text, { cause: error });
}
