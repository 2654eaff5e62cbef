import {
  baseOffsetAt,
  batchLengthAt,
  batchLengthOf,
  createChecksumKernel,
  FrameCursor,
  writeBatch,
} from "@millrace/framing";
import {
  decodePollMessagesReply,
  encodePollMessages,
  encodeSendMetadata,
  type PollingStrategy,
  toIdentifier,
} from "@millrace/protocol";
import type { MessageContent } from "../content/message-content.ts";
import type { SeenMessage } from "../oracle/topic-history.ts";

/** Room for the longest batch of the writers. */
const MEMORY_LENGTH = 4 * 1024 * 1024;
/** One partition of a topic of the cluster's only stream. */
export interface PartitionPlace {
  /** Id of the topic. */
  readonly topic: number;
  readonly partition: number;
}

const topicOf = ({ topic }: PartitionPlace) => ({ stream: toIdentifier(0), topic: toIdentifier(topic) });

const kernel = createChecksumKernel({ memoryLength: MEMORY_LENGTH, build: "typescript" });

/** Body of a SendMessages request with the messages `first` to `first + count - 1`. */
export function sendBody(
  content: MessageContent,
  place: PartitionPlace,
  { first, count }: { readonly first: number; readonly count: number },
): Uint8Array {
  return bodyOf(place, content.messages(first, count));
}

/** Body of a SendMessages request with one message. */
export function textBody(place: PartitionPlace, text: string, id: bigint): Uint8Array {
  const payload = new TextEncoder().encode(text);
  return bodyOf(place, [{ id, payload }]);
}

function bodyOf(place: PartitionPlace, messages: Parameters<typeof writeBatch>[2]): Uint8Array {
  const { bytes, blocksStart } = kernel.memory;
  const length = writeBatch(bytes, blocksStart, messages, Date.now() * 1000);
  kernel.sealBatch(blocksStart, batchLengthOf(messages));
  const partitioning = { kind: "partition", partitionId: place.partition } as const;
  const metadata = encodeSendMetadata({ ...topicOf(place), partitioning, messagesCount: messages.length });
  return new Uint8Array([...metadata, ...bytes.subarray(blocksStart, blocksStart + length)]);
}

/** Body of a PollMessages request. */
export function pollBody(place: PartitionPlace, strategy: PollingStrategy, count: number): Uint8Array {
  const consumer = { kind: "consumer", id: toIdentifier(1) } as const;
  const { partition: partitionId } = place;
  return encodePollMessages({ consumer, ...topicOf(place), partitionId, strategy, count, autoCommit: false });
}

/** What a poll brought: messages as the oracle judges them, and the last offset that can be read. */
export interface PolledPartition {
  readonly currentOffset: number;
  readonly messages: readonly SeenMessage[];
}

/** The payload of a PollMessages answer. */
export function polled(content: MessageContent, payload: Uint8Array): PolledPartition {
  const { currentOffset, batches } = decodePollMessagesReply(payload);
  const view = new DataView(batches.buffer, batches.byteOffset, batches.byteLength);
  const messages: SeenMessage[] = [];
  for (let position = 0; position < batches.length; position += batchLengthAt(view, position)) {
    const frame = new FrameCursor(batches, position);
    const baseOffset = baseOffsetAt(view, position);
    while (frame.next()) {
      const { id, payload: bytes, offsetDelta } = frame;
      messages.push(content.judge({ id, payload: bytes, offsetNumber: baseOffset + offsetDelta }));
    }
  }
  return { currentOffset, messages };
}
