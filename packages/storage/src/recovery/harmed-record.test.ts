import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createChecksumKernel } from "@millrace/framing";
import { StorageOperation } from "../op-record/op-header.ts";
import {
  NO_OP_HEADER,
  RecordKind,
  recordLength,
  sealRecord,
  writeRecordHeader,
} from "../op-record/record.ts";
import { viewOver } from "../op-record/u64-field.ts";
import { harmedRecord } from "./harmed-record.ts";

const kernel = createChecksumKernel({ memoryLength: 4_194_304 });
const DUE = { op: 9, parent: 77n, nextOffset: 300 };

/** A record of the op that is due with one bit changed, far from what tells whose it is. */
function changed(operation: number, bodyLength: number, groupPlace = 0): Uint8Array {
  const bytes = new Uint8Array(recordLength(bodyLength));
  const kind = operation === StorageOperation.batch ? RecordKind.batch : RecordKind.operation;
  const header = { ...NO_OP_HEADER, op: DUE.op, parent: DUE.parent, operation };
  writeRecordHeader(viewOver(bytes), 0, header, { kind, bodyLength, commit: 0, groupPlace });
  sealRecord(kernel, bytes, viewOver(bytes), { position: 0, length: bytes.length });
  bytes[40] = 1;
  return bytes;
}

describe("a changed record", () => {
  it("is as long as its operation, and holds zeros behind the highest numbers that it can have", () => {
    const { batch, storeOffset, deleteOffset, truncate, purge } = StorageOperation;
    const store = changed(storeOffset, 13);
    assert.deepEqual(harmedRecord(store, DUE), { length: 144, filledLength: 135 });
    assert.deepEqual(harmedRecord(store, { ...DUE, nextOffset: 256 }), { length: 144, filledLength: 134 });
    const many = { ...DUE, nextOffset: 2 ** 24 + 1 };
    assert.deepEqual(harmedRecord(store, many), { length: 144, filledLength: 137 });
    assert.deepEqual(harmedRecord(changed(deleteOffset, 5), DUE), { length: 136, filledLength: 133 });
    assert.deepEqual(harmedRecord(changed(truncate, 8), DUE), { length: 136, filledLength: 130 });
    assert.deepEqual(harmedRecord(changed(purge, 8), DUE), { length: 136, filledLength: 136 });
    assert.deepEqual(harmedRecord(changed(batch, 0), DUE), { length: 128, filledLength: 121 });
    assert.deepEqual(harmedRecord(changed(batch, 0, 8), DUE), { length: 128, filledLength: 120 });
  });

  it("is none when it ends early, or when two of its mark, op and parent are those of no op that is due", () => {
    const store = changed(StorageOperation.storeOffset, 13);
    assert.equal(harmedRecord(store.subarray(0, 143), DUE), undefined);
    assert.notEqual(harmedRecord(store, { ...DUE, op: 8 }), undefined);
    assert.notEqual(harmedRecord(store, { ...DUE, parent: 78n }), undefined);
    assert.equal(harmedRecord(store, { ...DUE, op: 8, parent: 78n }), undefined);
  });
});
