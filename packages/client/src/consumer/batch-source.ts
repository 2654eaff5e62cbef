import type { ReceivedMessage } from "../messages/received-message.ts";

/** Where a consumer's messages come from. */
export interface BatchSource {
  readonly isStopped: boolean;
  /** True when the rest of the last batch is somebody else's now and is not to be handled here. */
  readonly isBatchLost: boolean;
  /** True while somebody else waits for what is left of the last batch: commit it message by message. */
  readonly isGivingUp: boolean;
  /** The next messages of some partition; undefined once stopped. Throws the errors of polls. */
  nextBatch(): Promise<readonly ReceivedMessage[] | undefined>;
  /** Ends waits and further polls. What a poll in flight brings is dropped. */
  stop(): void;
}
