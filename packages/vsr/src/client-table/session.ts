import type { ReplyFields } from "../output.ts";

/** A reply kept for a client that asks again, with the checksum of the request it answered. */
export interface CachedReply extends ReplyFields {
  readonly bodyChecksum: bigint;
}

/** One registered client. */
export interface Session {
  readonly client: bigint;
  readonly user: number;
  /**
   * Op of the latest Register: the session number, and the fence against older connections of this client.
   */
  readonly epoch: number;
  /** Highest request number that was executed; 0n after a first Register. */
  readonly watermark: bigint;
  /** The latest replies, oldest first. */
  readonly replies: readonly CachedReply[];
}
