import {
  BATCH_HEADER_LENGTH,
  batchLengthOf,
  type ChecksumKernel,
  encodeRequestHeader,
  FRAME_HEADER_LENGTH,
  HEADER_LENGTH,
  HeapLeases,
  type Lease,
  type OutgoingMessage,
  type RequestHeaderFields,
  writeBatch,
} from "@millrace/framing";
import type { Random } from "@millrace/platform";
import type { MessageSpace } from "../../../assembly/message-space.ts";

/** Where a frame keeps its id, and how long that is. */
const ID_POSITION = 8;
const ID_LENGTH = 16;
/** Version and variant bits of a random UUID; stored little-endian, so byte 6 is at 9 and byte 8 at 7. */
const VERSION_AT = 9;
const VARIANT_AT = 7;

/** Request header without its length, which follows from the body. */
export type MessageHeader = Omit<RequestHeaderFields, "length">;

const heapLeases = new HeapLeases();

/** A whole request message on the heap, held once. */
export function writeMessage(header: MessageHeader, body: Uint8Array): Lease {
  const lease = heapLeases.allocate(HEADER_LENGTH + body.length);
  encodeRequestHeader(lease.bytes, { ...header, length: lease.length });
  lease.bytes.set(body, HEADER_LENGTH);
  return lease;
}

/** What a message with a batch is made in. */
export interface BatchRoom {
  readonly kernel: ChecksumKernel;
  readonly space: MessageSpace;
  readonly random: Random;
}

/** A batch on its way into a message. */
export interface BatchToWrite {
  readonly header: MessageHeader;
  /** What stands before the batch in the body. */
  readonly metadata: Uint8Array;
  readonly messages: readonly OutgoingMessage[];
  /** Micros. */
  readonly originTimestamp: number;
}

/**
 * A whole SendMessages request, written and sealed where the broker keeps batches, held once: nothing copies
 * it again. Messages without id get a random UUID v4. Undefined when there is no room now.
 */
export function writeBatchMessage(room: BatchRoom, batch: BatchToWrite): Lease | undefined {
  const { kernel, space, random } = room;
  const batchStart = HEADER_LENGTH + batch.metadata.length;
  const length = batchStart + batchLengthOf(batch.messages);
  const lease = space.take(length);
  if (lease === undefined) return undefined;
  encodeRequestHeader(lease.bytes, { ...batch.header, length });
  lease.bytes.set(batch.metadata, HEADER_LENGTH);
  const position = lease.position + batchStart;
  const batchLength = writeBatch(kernel.memory.bytes, position, batch.messages, batch.originTimestamp);
  fillIds(kernel.memory.bytes, position, batch.messages, random);
  kernel.sealBatch(position, batchLength);
  return lease;
}

function fillIds(
  memory: Uint8Array,
  position: number,
  messages: readonly OutgoingMessage[],
  random: Random,
): void {
  let framePosition = position + BATCH_HEADER_LENGTH;
  for (const { id, payload, userHeaders } of messages) {
    if (!id) {
      const bytes = random.bytes(ID_LENGTH);
      bytes[VERSION_AT] = ((bytes[VERSION_AT] ?? 0) & 0x0f) | 0x40;
      bytes[VARIANT_AT] = ((bytes[VARIANT_AT] ?? 0) & 0x3f) | 0x80;
      memory.set(bytes, framePosition + ID_POSITION);
    }
    framePosition += FRAME_HEADER_LENGTH + payload.length + (userHeaders?.length ?? 0);
  }
}
