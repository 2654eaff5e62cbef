/** What was waited for in vain. */
export type LateAnswer = "produce" | "offset_write" | "partition_read";

/** How a transport words what its sessions throw: each has errors of its own. */
export interface SessionFailures {
  /** A refusal of the broker, or one that has a code; `reason` is a sentence that says more than the code. */
  refused(code: number, reason?: string): Error;
  /** No answer came for so long; what became of the request is not known. */
  late(what: LateAnswer, patienceMs: number): Error;
  /** One session has too many requests under way. */
  tooManyRequests(): Error;
  /** Too many writes of partitions are awaited. */
  tooManyWrites(): Error;
}
