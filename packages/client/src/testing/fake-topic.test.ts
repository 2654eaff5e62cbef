import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BATCH_HEADER_LENGTH,
  createChecksumKernel,
  decodeBatchHeader,
  encodeBatchHeader,
  FrameCursor,
} from "@millrace/framing";
import {
  decodePollMessages,
  decodeSendMetadata,
  decodeStoreConsumerOffset,
  encodeGetTopicReply,
  encodePollReplyHead,
  encodeSendMessagesReply,
  type PollMessages,
} from "@millrace/protocol";
import type { FakeRequest } from "./fake-server.test.ts";

interface StoredFrame {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

const kernel = createChecksumKernel({ memoryLength: 4_194_304 });

/**
 * One topic in memory: takes sends (and demands good checksums), answers polls with a batch of one frame
 * each time the origin batch changes, keeps offsets of one consumer. Give its `script` to a `FakeServer`.
 */
export class FakeTopic {
  readonly partitions: StoredFrame[][];
  readonly committed = new Map<number, number>();
  readonly commits: [partitionId: number, offset: number][] = [];
  sends = 0;

  constructor(partitionsCount: number) {
    this.partitions = Array.from({ length: partitionsCount }, () => []);
  }

  /** Payloads of a partition as text, in order. */
  texts(partitionId = 0): string[] {
    return (this.partitions[partitionId] ?? []).map(({ bytes }) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset);
      return new TextDecoder().decode(bytes.subarray(48, 48 + view.getUint32(36, true)));
    });
  }

  /** Adds messages as if somebody had sent them. */
  append(partitionId: number, texts: readonly string[]): void {
    for (const text of texts) {
      const payload = new TextEncoder().encode(text);
      const bytes = new Uint8Array(48 + payload.length);
      new DataView(bytes.buffer).setUint32(36, payload.length, true);
      bytes.set(payload, 48);
      this.#partition(partitionId).push({ offset: this.#partition(partitionId).length, bytes });
    }
  }

  readonly script = (request: FakeRequest): boolean => {
    if (request.command === "SendMessages") this.#send(request);
    else if (request.command === "PollMessages") this.#poll(request);
    else if (request.command === "StoreConsumerOffset") this.#store(request);
    else if (request.command === "GetTopic") request.succeed(this.#topic());
    else return false;
    return true;
  };

  /** Writes a batch and answers where it is, or 20 for a partition that does not exist. */
  #send(request: FakeRequest): void {
    this.sends += 1;
    const { partitioning, messagesCount, batchPosition } = decodeSendMetadata(request.body);
    const batch = request.body.subarray(batchPosition);
    kernel.memory.bytes.set(batch, kernel.memory.blocksStart);
    assert.equal(kernel.verifyBatch(kernel.memory.blocksStart, batch.length), undefined);
    const partitionId = partitioning.kind === "partition" ? partitioning.partitionId : 0;
    const partition = this.partitions[partitionId];
    if (partition === undefined) {
      request.deny(20);
      return;
    }
    const baseOffset = partition.length;
    const cursor = new FrameCursor(batch);
    while (cursor.next()) {
      const bytes = batch.slice(cursor.framePosition, cursor.framePosition + cursor.frameLength);
      partition.push({ offset: partition.length, bytes });
    }
    assert.equal(partition.length - baseOffset, messagesCount);
    request.succeed(encodeSendMessagesReply([{ streamId: 1, topicId: 1, partitionId, baseOffset }]));
  }

  #poll(request: FakeRequest): void {
    const poll = decodePollMessages(request.body);
    const partitionId = poll.partitionId ?? 0;
    const partition = this.partitions[partitionId];
    if (partition === undefined) {
      request.deny(3007);
      return;
    }
    const start = this.#start(poll, partitionId);
    const frames = partition.slice(start, start + poll.count);
    const head = { partitionId, currentOffset: Math.max(0, partition.length - 1), count: frames.length };
    if (poll.autoCommit && frames.length > 0) this.committed.set(partitionId, start + frames.length - 1);
    request.succeed(
      Buffer.concat([encodePollReplyHead(head), ...frames.map((one) => batchOf(partitionId, one))]),
    );
  }

  #start({ strategy, count }: PollMessages, partitionId: number): number {
    if (strategy.kind === "offset") return Number(strategy.offset);
    if (strategy.kind === "next") return (this.committed.get(partitionId) ?? -1) + 1;
    return strategy.kind === "last" ? Math.max(0, this.#partition(partitionId).length - count) : 0;
  }

  #store(request: FakeRequest): void {
    const { partitionId = 0, offset } = decodeStoreConsumerOffset(request.body);
    if (Number(offset) >= this.#partition(partitionId).length) {
      request.deny(4100);
      return;
    }
    this.committed.set(partitionId, Number(offset));
    this.commits.push([partitionId, Number(offset)]);
    request.succeed();
  }

  #topic(): Uint8Array {
    return encodeGetTopicReply({
      id: 1,
      createdAt: 1,
      partitionsCount: this.partitions.length,
      messageExpiry: 0n,
      compression: 1,
      maxTopicSize: 0n,
      byteLength: 0,
      messagesCount: 0,
      name: "t",
      explicitOptions: [],
      derivedOptions: [],
      partitions: this.partitions.map(({ length }, id) => ({
        id,
        createdAt: 1,
        segmentsCount: 1,
        currentOffset: Math.max(0, length - 1),
        byteLength: 0,
        messagesCount: length,
      })),
    });
  }

  #partition(partitionId: number): StoredFrame[] {
    return this.partitions[partitionId] as StoredFrame[];
  }
}

/** A batch of the one frame, whose offset delta is taken into account as a sliced batch would. */
function batchOf(partitionId: number, frame: StoredFrame): Uint8Array {
  const delta = new DataView(frame.bytes.buffer, frame.bytes.byteOffset).getUint32(24, true);
  const batch = new Uint8Array(BATCH_HEADER_LENGTH + frame.bytes.length);
  encodeBatchHeader(batch, 0, {
    partitionId,
    baseOffset: frame.offset - delta,
    baseTimestamp: 1_700_000_000_000_001,
    originTimestamp: 1_600_000_000_000_001,
    batchLength: batch.length,
    batchChecksum: 0n,
    messageCount: 1,
  });
  batch.set(frame.bytes, BATCH_HEADER_LENGTH);
  return batch;
}

test("the fake topic serves batches whose header and frames fit", () => {
  const topic = new FakeTopic(1);
  topic.append(0, ["a", "b"]);
  assert.deepEqual(topic.texts(), ["a", "b"]);
  const [, second] = topic.partitions[0] ?? [];
  assert.equal(decodeBatchHeader(batchOf(0, second as StoredFrame)).baseOffset, 1);
});
