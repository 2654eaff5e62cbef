import { batchLengthOf, createChecksumKernel, writeBatch } from "@millrace/framing";
import { encodeSendMetadata, toIdentifier } from "@millrace/protocol";

const kernel = createChecksumKernel({ memoryLength: 4 * 1024 * 1024, build: "typescript" });

/** Body of a SendMessages request for a partition of the first topic of the first stream. */
export function batchBody(partitionId: number, payloads: readonly Uint8Array[]): Uint8Array {
  const messages = payloads.map((payload, index) => ({ id: BigInt(index + 1), payload }));
  const { bytes, blocksStart } = kernel.memory;
  const length = writeBatch(bytes, blocksStart, messages, 1_700_000_000_000_000);
  kernel.sealBatch(blocksStart, batchLengthOf(messages));
  const metadata = encodeSendMetadata({
    stream: toIdentifier(0),
    topic: toIdentifier(0),
    partitioning: { kind: "partition", partitionId },
    messagesCount: messages.length,
  });
  return new Uint8Array([...metadata, ...bytes.subarray(blocksStart, blocksStart + length)]);
}
