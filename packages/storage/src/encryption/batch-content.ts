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
import { ScratchBytes } from "./scratch-bytes.ts";

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

/**
 * Takes batches apart. What it returns are copies, good until the next batch: they lie in memory that is used
 * again.
 */
export class BatchSplitter {
  readonly #text = new ScratchBytes();
  readonly #facts = new ScratchBytes();

  /** @param length  of the batch, its room not counted */
  split(memory: KernelMemory, identity: PartitionIdentity, from: BatchLayout, length: number): BatchContent {
    const count = messageCountAt(memory.view, from.position);
    const text = this.#text.take(length - BATCH_HEADER_LENGTH - count * FRAME_HEADER_LENGTH);
    const facts = this.#facts.take(FRAME_FACTS_START + count * FRAME_FACTS_LENGTH);
    fillContent(memory, identity, from, { text, facts });
    return { text, facts };
  }
}

function fillContent(
  { bytes, view }: KernelMemory,
  identity: PartitionIdentity,
  { position, room }: BatchLayout,
  { text, facts }: BatchContent,
): void {
  const count = messageCountAt(view, position);
  const factsView = viewOver(facts);
  writeBatchFacts(facts, identity, bytes.subarray(position, position + BATCH_AT.batchChecksum), count);
  let at = position + BATCH_HEADER_LENGTH;
  let textAt = 0;
  let factsAt = FRAME_FACTS_START;
  for (let index = 0; index < count; index += 1) {
    const start = at + FRAME_HEADER_LENGTH + (index === 0 ? room : 0);
    const end = start + contentLengthAt(view, at);
    copyFrameFacts(view, at + FRAME_AT.id, factsView, factsAt);
    text.set(bytes.subarray(start, end), textAt);
    factsAt += FRAME_FACTS_LENGTH;
    textAt += end - start;
    at = end;
  }
}

/** Word by word: for so few bytes the array's own methods take five times as long. */
function copyFrameFacts(from: DataView, fromAt: number, to: DataView, toAt: number): void {
  for (let word = 0; word < FRAME_FACTS_LENGTH; word += 4) {
    to.setUint32(toAt + word, from.getUint32(fromAt + word, true), true);
  }
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
