import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import type { Answer } from "../test-client.ts";
import { type Excuses, payloadOf } from "./history-reads.ts";

const answered = (code: number) => ({ code, payload: new Uint8Array([7]) }) as unknown as Answer;
const NONE = { mayBeUnknown: false, isRotten: false };

test("a read brings what was answered, or nothing when the answer was lost", () => {
  assert.deepEqual(payloadOf(answered(0), "a read", NONE), new Uint8Array([7]));
  assert.equal(payloadOf(undefined, "a read", NONE), undefined);
});

test("a read is refused with codes that have a reason only", () => {
  const refused = (code: number, excuses: Excuses = NONE) => payloadOf(answered(code), "a read", excuses);
  assert.equal(refused(ErrorCode.TransientNotAccepted), undefined);
  assert.throws(() => refused(ErrorCode.InvalidOffset), /a read is answered, not refused with 4100/);
  assert.throws(() => refused(ErrorCode.TopicIdNotFound), /refused with 2010/);
  assert.equal(refused(ErrorCode.TopicIdNotFound, { ...NONE, mayBeUnknown: true }), undefined);
  assert.throws(() => refused(ErrorCode.TransientNotCommitted), /refused with 57/);
  assert.equal(refused(ErrorCode.TransientNotCommitted, { ...NONE, mayCommit: true }), undefined);
  const goes = { ...NONE, mayCommit: true, mayBeGone: true };
  assert.equal(refused(ErrorCode.ResourceNotFound, goes), undefined);
  assert.throws(() => refused(ErrorCode.ResourceNotFound, { ...goes, mayBeGone: false }), /refused with 20/);
  assert.throws(() => refused(ErrorCode.ResourceNotFound, { ...goes, mayCommit: false }), /refused with 20/);
  assert.throws(() => refused(ErrorCode.PartitionDamaged), /refused with 20002/);
  assert.equal(refused(ErrorCode.PartitionDamaged, { ...NONE, isRotten: true }), undefined);
});
