import { ByteReader, ByteWriter, setU64Number, WireError } from "@millrace/framing";
import { decodeWith, readRecords } from "../body-codec.ts";
import type { Identifier } from "../identifier.ts";
import { type Partitioning, readPartitioning, writePartitioning } from "../partitioning.ts";
import { readTopicTarget, writeTopicTarget } from "../topics/topic-target.ts";

/** What stands before the batch in a SendMessages body. */
export interface SendMetadata {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly partitioning: Partitioning;
  readonly messagesCount: number;
}

/** Decoded metadata and where the batch begins, counted from the start of the decoded bytes. */
export interface DecodedSendMetadata extends SendMetadata {
  readonly batchPosition: number;
}

/** Where a batch was written: the messages got offsets from `baseOffset` on. */
export interface SendConfirmation {
  readonly streamId: number;
  readonly topicId: number;
  readonly partitionId: number;
  readonly baseOffset: number;
}

const LENGTH_LENGTH = 4;
const CONFIRMATION_LENGTH = 20;

/**
 * The part of a SendMessages body before the batch; the two travel as parts and nobody joins them.
 *
 * Shape: length u32 of what follows, stream and topic identifier, partitioning, messages u32.
 */
export function encodeSendMetadata(metadata: SendMetadata): Uint8Array {
  const writer = new ByteWriter().u32(0);
  writeTopicTarget(writer, metadata);
  writePartitioning(writer, metadata.partitioning);
  writer.u32(metadata.messagesCount);
  writer.setU32(0, writer.length - LENGTH_LENGTH);
  return writer.finish();
}

/**
 * The counterpart of `encodeSendMetadata`; the batch itself is for `verifyBatch` of framing.
 *
 * Called once per produce request. A key in the partitioning is a view of `bytes`.
 *
 * @param bytes     holds the body up to its last byte
 * @param position  where the body begins in `bytes`
 * @throws WireError `unexpected_end` when the metadata does not fit, `bad_length` when it does not end
 *   exactly
 *         where its length says (specification section 9.4, checks 1 and 2)
 */
export function decodeSendMetadata(bytes: Uint8Array, position = 0): DecodedSendMetadata {
  const reader = new ByteReader(bytes, position);
  const length = reader.u32();
  if (length > reader.remaining) throw new WireError("unexpected_end", position);
  const batchPosition = reader.position + length;
  const { stream, topic } = readTopicTarget(reader);
  const partitioning = readPartitioning(reader);
  const messagesCount = reader.u32();
  if (reader.position !== batchPosition) throw new WireError("bad_length", position);
  return { stream, topic, partitioning, messagesCount, batchPosition };
}

/** Shape: count u32, then stream, topic and partition u32 and base offset u64 for each. */
export function encodeSendMessagesReply(confirmations: readonly SendConfirmation[]): Uint8Array {
  const writer = new ByteWriter(LENGTH_LENGTH + confirmations.length * CONFIRMATION_LENGTH);
  writer.u32(confirmations.length);
  for (const { streamId, topicId, partitionId, baseOffset } of confirmations) {
    writer.u32(streamId).u32(topicId).u32(partitionId).u64(baseOffset);
  }
  return writer.finish();
}

/** Bytes of a reply that confirms one batch. */
export const SEND_CONFIRMATION_REPLY_LENGTH = LENGTH_LENGTH + CONFIRMATION_LENGTH;

/**
 * Writes the body of a reply that confirms one batch at `position`: what `encodeSendMessagesReply` makes of
 * it.
 */
export function writeSendConfirmationReply(
  view: DataView,
  position: number,
  { streamId, topicId, partitionId }: Omit<SendConfirmation, "baseOffset">,
  baseOffset: number,
): void {
  view.setUint32(position, 1, true);
  view.setUint32(position + 4, streamId, true);
  view.setUint32(position + 8, topicId, true);
  view.setUint32(position + 12, partitionId, true);
  setU64Number(view, position + 16, baseOffset);
}

/** The counterpart of `encodeSendMessagesReply`. An empty body confirms a repeated request and holds none. */
export function decodeSendMessagesReply(payload: Uint8Array): readonly SendConfirmation[] {
  return payload.length === 0 ? [] : decodeWith(readConfirmations, payload);
}

function readConfirmations(reader: ByteReader): SendConfirmation[] {
  return readRecords(reader, readConfirmation, reader.u32());
}

function readConfirmation(reader: ByteReader): SendConfirmation {
  return {
    streamId: reader.u32(),
    topicId: reader.u32(),
    partitionId: reader.u32(),
    baseOffset: reader.u64Number(),
  };
}
