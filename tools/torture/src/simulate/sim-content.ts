import { batchLengthOf, createChecksumKernel, FrameCursor, writeBatch } from "@millrace/framing";
import { SeededRandom } from "@millrace/testkit";

/** Longest batch: long enough that a few of them fill the smallest segment. */
const KERNEL_LENGTH = 4_194_304;
/** Bytes that payloads are cut from. */
const POOL_LENGTH = 1_048_576;
const PAYLOAD_LENGTH_MAX = 327_680;
const ORIGIN_MICROS = 1_700_000_000_000_000;

const kernel = createChecksumKernel({ memoryLength: KERNEL_LENGTH });
// No zeros: a sector of zeros would look like one that the disk never wrote.
const pool = new SeededRandom(1).bytes(POOL_LENGTH).map((byte) => byte || 1);

/** A message that a poll brought, by the number it was sent under. */
export interface FoundMessage {
  readonly offset: number;
  readonly number: number;
  readonly payload: Uint8Array;
}

/** Payload of message `number` with this length: the same bytes whenever it is asked for. A view. */
export function payloadOf(number: number, length: number): Uint8Array {
  const start = Math.imul(number + 1, 0x9e37_79b1) >>> 0;
  return pool.subarray(start % (POOL_LENGTH - PAYLOAD_LENGTH_MAX)).subarray(0, length);
}

/** A sealed batch of messages numbered from `first` on, of these lengths. */
export function batchOf(first: number, lengths: readonly number[]): Uint8Array {
  const messages = lengths.map((length, index) => ({
    id: BigInt(first + index + 1),
    payload: payloadOf(first + index, length),
  }));
  const { bytes, blocksStart } = kernel.memory;
  const length = writeBatch(bytes, blocksStart, messages, ORIGIN_MICROS);
  kernel.sealBatch(blocksStart, batchLengthOf(messages));
  return bytes.slice(blocksStart, blocksStart + length);
}

/** The messages of batches back to back. */
export function messagesIn(batches: Uint8Array): FoundMessage[] {
  const found: FoundMessage[] = [];
  for (let position = 0; position < batches.length; ) {
    const cursor = new FrameCursor(batches, position);
    const { baseOffset, batchLength } = cursor.header;
    while (cursor.next()) {
      const { id, payload, offsetDelta } = cursor;
      found.push({ offset: baseOffset + offsetDelta, number: Number(id) - 1, payload });
    }
    position += batchLength;
  }
  return found;
}
