/**
 * One shard's way to the other shards of its process. Shard 0 speaks with every other; those speak with it
 * alone.
 *
 * Messages arrive whole, once, and in the order in which they were sent. None is lost: what finds no room
 * waits at the sender, in order. There is no answer when the other shard is gone; whoever runs the shards
 * ends
 * the process then.
 */
export interface ShardBus {
  /** This shard's number, from 0. */
  readonly shard: number;
  readonly shardsCount: number;
  /** Sends bytes, which are the caller's again when it returns. Any length; short is cheap. */
  send(to: number, message: Uint8Array): void;
  /** Called once per message, in an event of its own or of several. The bytes are lent for the call. */
  onMessage: (from: number, message: Uint8Array) => void;
}
