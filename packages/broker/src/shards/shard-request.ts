/**
 * What shard 0 asks of the shard that owns a partition, by the first byte of a message. All but `releasePoll`
 * are answered once.
 *
 * Shape: kind u8, call u64 (which the answer repeats), partition u32 (the number shard 0 gave it; 0 where
 * none is meant), then what the kind says in `shard-codec.ts`. Little-endian, as everything here.
 */
export const ShardRequest = {
  append: 1,
  poll: 2,
  readOffset: 3,
  storeOffset: 4,
  storeOffsetForward: 5,
  deleteOffset: 6,
  forgetGroup: 7,
  truncate: 8,
  verify: 9,
  repair: 10,
  open: 11,
  purge: 12,
  remove: 13,
  contents: 14,
  giveWay: 15,
  stop: 16,
  /** The messages of the poll with this call number were written: the owner lets go of them. */
  releasePoll: 17,
  lookAtRetention: 18,
  findSeen: 19,
} as const;

/** One kind of request. */
export type ShardRequestKind = (typeof ShardRequest)[keyof typeof ShardRequest];

/** What an owner sends to shard 0, by the first byte. Behind it: the call u64. */
export const ShardReply = {
  /** Then code u32, 0 for success; with another code a text str32; then what the request's kind says. */
  answer: 1,
  /** The batch of the append with this call number is held no longer. */
  releaseBatch: 2,
} as const;
