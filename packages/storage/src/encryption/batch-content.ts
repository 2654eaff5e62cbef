import {
  BATCH_AT,
  BATCH_HEADER_LENGTH,
  FRAME_AT,
  FRAME_HEADER_LENGTH,
  type KernelMemory,
  messageCountAt,
} from "@millrace/framing";
import type { PartitionIdentity } from "../op-record/checkpoint.ts";
import { setU64, viewOver } from "../op-record/u64-field.ts";

/**
 * A verified batch in the kernel's memory with room in front of the first payload that no length in its
 * headers counts; 0 in a batch that is as it was sent.
 */
export interface BatchLayout {
  readonly position: number;
  readonly room: number;
}

/** A batch taken apart: what is to be hidden, and all that it belongs to. */
export interface BatchContent {
  /** Payloads and user headers, one message after another. */
  readonly text: Uint8Array;
  /**
   * The partition, the batch's place and time in it, and id, deltas and lengths of each message. Checksums
   * are left out: they follow from the rest.
   */
  readonly facts: Uint8Array;
}

/** Says what the bytes are for, so that nothing sealed for another purpose opens as a batch. */
const PURPOSE = new TextEncoder().encode("mrbatch1");
/** The partition's four numbers, the batch header up to its checksum, the count behind that. */
const FRAME_FACTS_START = PURPOSE.length + 32 + BATCH_AT.batchChecksum + 4;
/** A frame header without its checksum. */
const FRAME_FACTS_LENGTH = FRAME_HEADER_LENGTH - FRAME_AT.id;

/** Takes a batch of `length` bytes (its room not counted) apart; what it returns are copies. */
export function splitBatch(
  { bytes, view }: KernelMemory,
  identity: PartitionIdentity,
  { position, room }: BatchLayout,
  length: number,
): BatchContent {
  const count = messageCountAt(view, position);
  const text = new Uint8Array(length - BATCH_HEADER_LENGTH - count * FRAME_HEADER_LENGTH);
  const facts = new Uint8Array(FRAME_FACTS_START + count * FRAME_FACTS_LENGTH);
  writeBatchFacts(facts, identity, bytes.subarray(position, position + BATCH_AT.batchChecksum), count);
  let at = position + BATCH_HEADER_LENGTH;
  let textAt = 0;
  let factsAt = FRAME_FACTS_START;
  for (let index = 0; index < count; index += 1) {
    const start = at + FRAME_HEADER_LENGTH + (index === 0 ? room : 0);
    const end = start + contentLengthAt(view, at);
    facts.set(bytes.subarray(at + FRAME_AT.id, at + FRAME_HEADER_LENGTH), factsAt);
    text.set(bytes.subarray(start, end), textAt);
    factsAt += FRAME_FACTS_LENGTH;
    textAt += end - start;
    at = end;
  }
  return { text, facts };
}

/**
 * Writes the headers of one batch and a text as their contents to another place, which may be the same or lie
 * less far behind than the room that falls away.
 */
export function joinBatch(
  { bytes, view }: KernelMemory,
  from: BatchLayout,
  text: Uint8Array,
  to: BatchLayout,
): void {
  const count = messageCountAt(view, from.position);
  bytes.copyWithin(to.position, from.position, from.position + BATCH_HEADER_LENGTH);
  let fromAt = from.position + BATCH_HEADER_LENGTH;
  let toAt = to.position + BATCH_HEADER_LENGTH;
  let textAt = 0;
  for (let index = 0; index < count; index += 1) {
    const length = contentLengthAt(view, fromAt);
    const isFirst = index === 0;
    bytes.copyWithin(toAt, fromAt, fromAt + FRAME_HEADER_LENGTH);
    toAt += FRAME_HEADER_LENGTH + (isFirst ? to.room : 0);
    bytes.set(text.subarray(textAt, textAt + length), toAt);
    fromAt += FRAME_HEADER_LENGTH + length + (isFirst ? from.room : 0);
    toAt += length;
    textAt += length;
  }
}

function writeBatchFacts(
  facts: Uint8Array,
  { streamId, topicId, partitionId, revision }: PartitionIdentity,
  header: Uint8Array,
  count: number,
): void {
  const view = viewOver(facts);
  facts.set(PURPOSE);
  let at = PURPOSE.length;
  for (const part of [streamId, topicId, partitionId, revision]) {
    setU64(view, at, part);
    at += 8;
  }
  facts.set(header, at);
  view.setUint32(at + header.length, count, true);
}

function contentLengthAt(view: DataView, frame: number): number {
  return (
    view.getUint32(frame + FRAME_AT.payloadLength, true) +
    view.getUint32(frame + FRAME_AT.userHeadersLength, true)
  );
}
