import { ByteReader, ByteWriter } from "@millrace/framing";
import { encodeWith } from "../body-codec.ts";
import { type Consumer, readConsumer } from "../consumer.ts";
import { type OffsetTarget, readPartitionId, writeOffsetTarget } from "../consumer-offsets/offset-target.ts";
import { readIdentifier } from "../identifier.ts";
import { type PollingStrategy, readPollingStrategy, writePollingStrategy } from "../polling-strategy.ts";

/** Asks for up to `count` messages. With `autoCommit` the last one's offset is stored for the consumer. */
export interface PollMessages extends OffsetTarget {
  readonly strategy: PollingStrategy;
  readonly count: number;
  readonly autoCommit: boolean;
}

/**
 * What stands before the batches in the reply. `currentOffset` is the highest readable offset, 0 when empty.
 */
export interface PollReplyHead {
  readonly partitionId: number;
  readonly currentOffset: number;
  /** Messages over all batches that follow. */
  readonly count: number;
}

/** A decoded reply; `batches` is a view of the payload, batches back to back. */
export interface PollMessagesReply extends PollReplyHead {
  readonly batches: Uint8Array;
}

/** Bytes of the reply before its first batch; a reply of just these zero bytes is an empty poll. */
export const POLL_REPLY_HEAD_LENGTH = 16;

/** Partition in the empty reply that tells a group member: this partition is not yours, sync again. */
export const PARTITION_NOT_OWNED = 0xffff_ffff;

/** Shape: offset target, strategy (9 bytes), count u32, auto commit u8. */
export function encodePollMessages(body: PollMessages): Uint8Array {
  return encodeWith(writePollMessages, body);
}

/**
 * The counterpart of `encodePollMessages`. Called once per poll.
 *
 * @param position  where the body, which ends with `bytes`, begins
 * @throws WireError
 */
export function decodePollMessages(bytes: Uint8Array, position = 0): PollMessages {
  const reader = new ByteReader(bytes, position);
  const consumer: Consumer = readConsumer(reader);
  const stream = readIdentifier(reader);
  const topic = readIdentifier(reader);
  const partitionId = readPartitionId(reader);
  const strategy = readPollingStrategy(reader);
  const count = reader.u32();
  const autoCommit = reader.u8() !== 0;
  reader.finish();
  return { consumer, stream, topic, partitionId, strategy, count, autoCommit };
}

/**
 * The first 16 bytes of a reply: partition u32, current offset u64, count u32. The batches follow as parts.
 */
export function encodePollReplyHead(head: PollReplyHead): Uint8Array {
  return new ByteWriter(POLL_REPLY_HEAD_LENGTH)
    .u32(head.partitionId)
    .u64(head.currentOffset)
    .u32(head.count)
    .finish();
}

/** Takes a reply apart; throws WireError when the head is not complete. The batches are not looked at. */
export function decodePollMessagesReply(payload: Uint8Array): PollMessagesReply {
  const reader = new ByteReader(payload);
  return {
    partitionId: reader.u32(),
    currentOffset: reader.u64Number(),
    count: reader.u32(),
    batches: reader.bytes(reader.remaining),
  };
}

function writePollMessages(writer: ByteWriter, body: PollMessages): void {
  writeOffsetTarget(writer, body);
  writePollingStrategy(writer, body.strategy);
  writer.u32(body.count).u8(body.autoCommit ? 1 : 0);
}
