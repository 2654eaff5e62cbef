import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createChecksumKernel } from "@millrace/framing";
import { recordBeforeChange } from "./changed-bit.ts";
import { NO_OP_HEADER, RecordKind, recordLength, sealRecord, writeRecordHeader } from "./record.ts";
import { viewOver } from "./u64-field.ts";

const kernel = createChecksumKernel({ memoryLength: 4_194_304 });

function record(bodyLength: number): Uint8Array {
  const bytes = new Uint8Array(recordLength(bodyLength));
  writeRecordHeader(viewOver(bytes), 0, NO_OP_HEADER, { kind: RecordKind.metadata, bodyLength, commit: 0 });
  sealRecord(kernel, bytes, viewOver(bytes), { position: 0, length: bytes.length });
  return bytes;
}

function flipped(bytes: Uint8Array, ...bits: readonly number[]): Uint8Array {
  const copy = bytes.slice();
  for (const bit of bits) copy[bit >>> 3] = (copy[bit >>> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

function hasChangedBit(bytes: Uint8Array, filePosition = 0): boolean {
  return recordBeforeChange(kernel, { bytes, filePosition, start: 0 }) !== undefined;
}

describe("a record that does not verify", () => {
  it("is known by one changed bit, wherever it is: checksum, mark, length, body or padding", () => {
    const good = record(21);
    const rest = new Uint8Array(good.length + 40);
    for (let bit = 0; bit < 8 * good.length; bit += 5) {
      const changed = flipped(good, bit);
      assert.ok(hasChangedBit(changed), `bit ${bit}`);
      rest.set(changed);
      assert.ok(hasChangedBit(rest), `bit ${bit} before other bytes`);
      assert.deepEqual(rest.subarray(0, good.length), changed, "what is tried is put back");
    }
  });

  it("is not known by two changed bits, when its end is missing, or when it is longer than 4 KiB", () => {
    const good = record(21);
    assert.ok(!hasChangedBit(flipped(good, 300, 301)));
    assert.ok(!hasChangedBit(flipped(good, 300).subarray(0, good.length - 8)));
    assert.ok(hasChangedBit(flipped(record(3968), 300)));
    assert.ok(!hasChangedBit(flipped(record(3976), 300)));
    assert.ok(!hasChangedBit(new Uint8Array(0)));
  });
});
