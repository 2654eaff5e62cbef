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
  renewRequestHeader,
  writeBatch,
} from "@millrace/framing";
import type { MessageSpace } from "../assembly/message-space.ts";
import type { RandomIds } from "./random-ids.ts";

/** Where a frame keeps its id. */
const ID_POSITION = 8;

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
  readonly ids: RandomIds;
}

/** A batch on its way into a message. */
export interface BatchToWrite {
  /** What stands before the batch in the body. */
  readonly metadata: Uint8Array;
  readonly messages: readonly OutgoingMessage[];
  /** Micros. */
  readonly originTimestamp: number;
}

/** What a batch's message begins with. */
export interface BatchRequest {
  /** The 256 bytes of a request header of the session; length and number are set in the message. */
  readonly header: Uint8Array;
  readonly request: number;
}

/**
 * A whole SendMessages request, written and sealed where the broker keeps batches, held once: nothing copies
 * it again. Messages without id get a random UUID v4. Undefined when there is no room now.
 */
export function writeBatchMessage(
  room: BatchRoom,
  batch: BatchToWrite,
  { header, request }: BatchRequest,
): Lease | undefined {
  const { kernel, space, ids } = room;
  const batchStart = HEADER_LENGTH + batch.metadata.length;
  const length = batchStart + batchLengthOf(batch.messages);
  const lease = space.take(length);
  if (lease === undefined) return undefined;
  const { bytes, view } = kernel.memory;
  bytes.set(header, lease.position);
  renewRequestHeader(view, lease.position, { length, request });
  bytes.set(batch.metadata, lease.position + HEADER_LENGTH);
  const position = lease.position + batchStart;
  const batchLength = writeBatch(bytes, position, batch.messages, batch.originTimestamp);
  fillIds(bytes, position, batch.messages, ids);
  kernel.sealBatch(position, batchLength);
  return lease;
}

function fillIds(
  memory: Uint8Array,
  position: number,
  messages: readonly OutgoingMessage[],
  ids: RandomIds,
): void {
  let framePosition = position + BATCH_HEADER_LENGTH;
  for (const { id, payload, userHeaders } of messages) {
    if (!id) ids.write(memory, framePosition + ID_POSITION);
    framePosition += FRAME_HEADER_LENGTH + payload.length + (userHeaders?.length ?? 0);
  }
}
