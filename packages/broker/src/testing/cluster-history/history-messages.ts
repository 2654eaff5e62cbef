import assert from "node:assert/strict";
import { batchLengthAt, createChecksumKernel, FrameCursor, xxh3_64 } from "@millrace/framing";
import { decodePollMessagesReply } from "@millrace/protocol";
import { sealedMessages } from "../test-batches.ts";
import type { PolledMessage } from "../test-polls.ts";

const kernel = createChecksumKernel({ memoryLength: 4 * 1024 * 1024, build: "typescript" });
const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** Micros from which the times of messages are counted. */
const FIRST_ORIGIN = 1_700_000_000_000_000;
/** Micros between the oldest and the youngest message of a batch, at most. */
const ORIGINS = 1000;

const headersOf = (text: string) => `headers of ${text}`;

/** Everything a producer says of a message, which follows from its text: so anybody can tell what it was. */
function messageOf(text: string) {
  const payload = encoder.encode(text);
  const id = xxh3_64(payload);
  const originTimestamp = FIRST_ORIGIN + Number(id % BigInt(ORIGINS));
  return { id, payload, userHeaders: encoder.encode(headersOf(text)), originTimestamp };
}

/** A sealed batch of messages with ids, headers and times of their own. */
export function batchOf(texts: readonly string[]): Uint8Array {
  const messages = texts.map(messageOf);
  const originTimestamps = messages.map(({ originTimestamp }) => originTimestamp);
  return sealedMessages(messages, Math.min(...originTimestamps));
}

/**
 * The messages of a poll's payload.
 *
 * @throws AssertionError when checksums, partition, ids, headers or times are not as they were sent, when the
 *                        node's time goes back, or when what is served lies behind the end it names
 */
export function servedMessages(payload: Uint8Array, partitionId: number): PolledMessage[] {
  const { batches, currentOffset } = decodePollMessagesReply(payload);
  const view = new DataView(batches.buffer, batches.byteOffset, batches.byteLength);
  const messages: PolledMessage[] = [];
  let timestamp = 0;
  for (let position = 0; position < batches.length; position += batchLengthAt(view, position)) {
    checkSealed(batches.subarray(position, position + batchLengthAt(view, position)));
    const cursor = new FrameCursor(batches, position);
    const { baseOffset, baseTimestamp } = cursor.header;
    assert.equal(
      cursor.header.partitionId,
      partitionId,
      `@${baseOffset} is of the partition that was polled`,
    );
    assert.ok(baseTimestamp >= timestamp, `@${baseOffset} is not older than what comes before`);
    timestamp = baseTimestamp;
    while (cursor.next()) messages.push(messageAt(cursor));
  }
  const last = messages.at(-1)?.offset ?? 0;
  assert.ok(last <= currentOffset, `offset ${last} is not behind the end, ${currentOffset}`);
  return messages;
}

function checkSealed(batch: Uint8Array): void {
  const { bytes, blocksStart } = kernel.memory;
  bytes.set(batch, blocksStart);
  assert.equal(kernel.verifyBatch(blocksStart, batch.length), undefined, "a batch has its checksums");
}

function messageAt({ header, offsetDelta, timestampDelta, id, payload, userHeaders }: FrameCursor) {
  const text = decoder.decode(payload);
  const sent = messageOf(text);
  assert.equal(id, sent.id, `${text} has its id`);
  assert.equal(decoder.decode(userHeaders), headersOf(text), `${text} has its headers`);
  assert.equal(header.originTimestamp + timestampDelta, sent.originTimestamp, `${text} has its time`);
  return { offset: header.baseOffset + offsetDelta, text };
}
