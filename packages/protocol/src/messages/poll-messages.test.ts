import assert from "node:assert/strict";
import { test } from "node:test";
import { isWireError } from "@millrace/framing";
import { fromHex, toHex } from "@millrace/testkit";
import { toIdentifier } from "../identifier.ts";
import {
  decodePollMessages,
  decodePollMessagesReply,
  encodePollMessages,
  encodePollReplyHead,
  PARTITION_NOT_OWNED,
  POLL_REPLY_HEAD_LENGTH,
} from "./poll-messages.ts";

const POLL = {
  consumer: { kind: "consumer", id: toIdentifier(7) },
  stream: toIdentifier(1),
  topic: toIdentifier(2),
  partitionId: undefined,
  strategy: { kind: "next" },
  count: 10,
  autoCommit: true,
} as const;

test("a poll is read in place, wherever the body begins", () => {
  const body = encodePollMessages(POLL);
  const message = fromHex("ff".repeat(256) + toHex(body));
  assert.deepEqual(decodePollMessages(message, 256), POLL);
});

test("the partition word is ignored unless the flag is exactly 1", () => {
  const hex = toHex(encodePollMessages({ ...POLL, partitionId: 9 }));
  const named = "0109000000";
  assert.ok(hex.includes(named));
  for (const absent of ["0009000000", "0209000000"]) {
    assert.equal(decodePollMessages(fromHex(hex.replace(named, absent))).partitionId, undefined);
  }
});

test("any auto commit byte but 0 is true", () => {
  const hex = toHex(encodePollMessages(POLL));
  assert.equal(decodePollMessages(fromHex(`${hex.slice(0, -2)}ff`)).autoCommit, true);
  assert.equal(decodePollMessages(fromHex(`${hex.slice(0, -2)}00`)).autoCommit, false);
});

test("a reply that is not even a head is refused", () => {
  assert.throws(
    () => decodePollMessagesReply(new Uint8Array(POLL_REPLY_HEAD_LENGTH - 1)),
    (error) => isWireError(error, "unexpected_end"),
  );
});

test("the reply to a member that does not own the partition is a head with the sentinel", () => {
  const head = encodePollReplyHead({ partitionId: PARTITION_NOT_OWNED, currentOffset: 0, count: 0 });
  assert.equal(toHex(head), "ffffffff000000000000000000000000");
});
