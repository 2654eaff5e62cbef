import assert from "node:assert/strict";
import { test } from "node:test";
import { createChecksumKernel } from "@millrace/framing";
import { encodePollReplyHead } from "@millrace/protocol";
import { sealedBatch, sealedMessages } from "../test-batches.ts";
import { batchOf, servedMessages } from "./history-messages.ts";

const kernel = createChecksumKernel({ memoryLength: 4 * 1024 * 1024, build: "typescript" });
const PARTITION = 3;
const FIRST_TIMESTAMP = 1000;

/** A batch as a node stores it. */
function stored(batch: Uint8Array, baseOffset: number, timestamp = FIRST_TIMESTAMP): Uint8Array {
  const { bytes, blocksStart } = kernel.memory;
  bytes.set(batch, blocksStart);
  kernel.stampBatch(blocksStart, PARTITION, baseOffset, timestamp);
  return bytes.slice(blocksStart, blocksStart + batch.length);
}

/** What a poll brings. */
function payloadOf(batches: readonly Uint8Array[], currentOffset = 10): Uint8Array {
  const head = encodePollReplyHead({ partitionId: PARTITION, currentOffset, count: 0 });
  return Buffer.concat([head, ...batches]);
}

test("messages are those that were sent", () => {
  const batches = [stored(batchOf(["a", "b"]), 4), stored(batchOf(["c"]), 6)];
  const found = ["a", "b", "c"].map((text, at) => ({ offset: 4 + at, text }));
  assert.deepEqual(servedMessages(payloadOf(batches), PARTITION), found);
  assert.throws(() => servedMessages(payloadOf(batches), 0), /of the partition that was polled/);
  assert.throws(() => servedMessages(payloadOf(batches, 5), PARTITION), /offset 6 is not behind the end, 5/);
});

test("other ids, headers and times are found under right checksums", () => {
  const served = (batch: Uint8Array) => servedMessages(payloadOf([stored(batch, 0)]), PARTITION);
  assert.throws(() => served(sealedBatch(["a"])), /a has its id/);
  const [good] = [batchOf(["a"])];
  const id = new DataView(good.buffer).getBigUint64(256 + 8, true);
  const payload = new TextEncoder().encode("a");
  assert.throws(() => served(sealedMessages([{ id, payload }])), /a has its headers/);
  const userHeaders = new TextEncoder().encode("headers of a");
  assert.throws(() => served(sealedMessages([{ id, payload, userHeaders }], 5)), /a has its time/);
});

test("a changed bit is found, and a time that goes back", () => {
  const batch = stored(batchOf(["a"]), 0);
  for (const at of [16, 40, batch.length - 1]) {
    const changed = batch.slice();
    changed[at]! ^= 1;
    assert.throws(() => servedMessages(payloadOf([changed]), PARTITION), /a batch has its checksums/);
  }
  const later = stored(batchOf(["b"]), 1, FIRST_TIMESTAMP - 1);
  assert.throws(() => servedMessages(payloadOf([batch, later]), PARTITION), /@1 is not older/);
});
