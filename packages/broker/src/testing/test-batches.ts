import { batchLengthOf, createChecksumKernel, type OutgoingMessage, writeBatch } from "@millrace/framing";
import { encodeSendMetadata, type Partitioning, toIdentifier } from "@millrace/protocol";

const kernel = createChecksumKernel({ memoryLength: 4 * 1024 * 1024, build: "typescript" });
const encoder = new TextEncoder();

/** A sealed batch of texts, as a producer makes it. */
export function sealedBatch(texts: readonly string[], originTimestamp?: number): Uint8Array {
  const messages = texts.map((text, index) => ({ id: BigInt(index + 1), payload: encoder.encode(text) }));
  return sealedMessages(messages, originTimestamp);
}

/** The same of messages with whatever they carry. */
export function sealedMessages(
  messages: readonly OutgoingMessage[],
  originTimestamp = 1_700_000_000_000_000,
): Uint8Array {
  const { bytes, blocksStart } = kernel.memory;
  const length = writeBatch(bytes, blocksStart, messages, originTimestamp);
  kernel.sealBatch(blocksStart, batchLengthOf(messages));
  return bytes.slice(blocksStart, blocksStart + length);
}

/** Body of a SendMessages request. */
export function sendBody(
  texts: readonly string[],
  options: {
    stream?: number | string;
    topic?: number | string;
    partitioning?: Partitioning;
    messagesCount?: number;
    batch?: Uint8Array;
  } = {},
): Uint8Array {
  const batch = options.batch ?? sealedBatch(texts);
  const metadata = encodeSendMetadata({
    stream: toIdentifier(options.stream ?? 0),
    topic: toIdentifier(options.topic ?? 0),
    partitioning: options.partitioning ?? { kind: "partition", partitionId: 0 },
    messagesCount: options.messagesCount ?? texts.length,
  });
  const body = new Uint8Array(metadata.length + batch.length);
  body.set(metadata);
  body.set(batch, metadata.length);
  return body;
}
