import { baseOffsetAt, batchLengthAt, FrameCursor } from "@millrace/framing";
import {
  decodePollMessagesReply,
  encodePollMessages,
  type PollMessages,
  toIdentifier,
} from "@millrace/protocol";

/** A message a poll brought. */
export interface PolledMessage {
  readonly offset: number;
  readonly text: string;
}

/** A poll's answer, taken apart. */
export interface Polled {
  readonly partitionId: number;
  readonly currentOffset: number;
  readonly messages: readonly PolledMessage[];
}

const decoder = new TextDecoder();

/** Body of a PollMessages request with everything a test does not say. */
export function pollBody(poll: Partial<PollMessages> = {}): Uint8Array {
  return encodePollMessages({
    consumer: { kind: "consumer", id: toIdentifier(1) },
    stream: toIdentifier(0),
    topic: toIdentifier(0),
    partitionId: 0,
    strategy: { kind: "first" },
    count: 1000,
    autoCommit: false,
    ...poll,
  });
}

/** The messages of a poll's payload. */
export function polled(payload: Uint8Array): Polled {
  const { partitionId, currentOffset, batches } = decodePollMessagesReply(payload);
  const view = new DataView(batches.buffer, batches.byteOffset, batches.byteLength);
  const messages: PolledMessage[] = [];
  for (let position = 0; position < batches.length; position += batchLengthAt(view, position)) {
    const cursor = new FrameCursor(batches, position);
    const baseOffset = baseOffsetAt(view, position);
    while (cursor.next()) {
      messages.push({ offset: baseOffset + cursor.offsetDelta, text: decoder.decode(cursor.payload) });
    }
  }
  return { partitionId, currentOffset, messages };
}
