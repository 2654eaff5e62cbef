import assert from "node:assert/strict";
import { test } from "node:test";
import { isWireError, type WireReason } from "@millrace/framing";
import { fromHex, goldenCase, toHex } from "@millrace/testkit";
import { toIdentifier } from "../identifier.ts";
import {
  decodeSendMessagesReply,
  decodeSendMetadata,
  encodeSendMessagesReply,
  encodeSendMetadata,
  SEND_CONFIRMATION_REPLY_LENGTH,
  writeSendConfirmationReply,
} from "./send-messages.ts";

const METADATA = {
  stream: toIdentifier(1),
  topic: toIdentifier(2),
  partitioning: { kind: "balanced" },
  messagesCount: 1,
} as const;
const HEX = "12000000" + "010401000000" + "010402000000" + "0100" + "01000000";

function assertRefused(hex: string, reason: WireReason): void {
  assert.throws(
    () => decodeSendMetadata(fromHex(hex)),
    (error) => isWireError(error, reason),
    hex,
  );
}

test("metadata is read in place, wherever the body begins", () => {
  assert.equal(toHex(encodeSendMetadata(METADATA)), HEX);
  const message = fromHex(`${"ff".repeat(256)}${HEX}aabb`);
  assert.deepEqual(decodeSendMetadata(message, 256), { ...METADATA, batchPosition: 256 + HEX.length / 2 });
});

test("the batch of a recorded body begins where the metadata ends", () => {
  const body = fromHex(goldenCase("request/send_messages_two_with_headers").expected_hex ?? "");
  const { batchPosition, messagesCount } = decodeSendMetadata(body);
  const batch = goldenCase("batch/produce_two_messages").expected_hex;
  assert.equal(messagesCount, 2);
  assert.equal(toHex(body.subarray(batchPosition)), batch);
});

test("a length that is not exactly that of the metadata is refused", () => {
  assertRefused("", "unexpected_end");
  assertRefused("120000", "unexpected_end");
  assertRefused(HEX.slice(0, -2), "unexpected_end");
  assertRefused(`13${HEX.slice(2)}00`, "bad_length");
  assertRefused(`11${HEX.slice(2)}`, "bad_length");
  assertRefused(`ffffffff${HEX.slice(8)}`, "unexpected_end");
});

test("an empty reply confirms a repeated request", () => {
  assert.deepEqual(decodeSendMessagesReply(new Uint8Array(0)), []);
});

test("bytes behind the confirmations are refused", () => {
  assert.throws(
    () => decodeSendMessagesReply(fromHex("0000000000")),
    (error) => isWireError(error, "trailing_bytes"),
  );
});

test("a confirmation written in place is what the encoder makes", () => {
  const confirmation = { streamId: 1, topicId: 2, partitionId: 70_000, baseOffset: 2 ** 53 - 1 };
  const bytes = new Uint8Array(8 + SEND_CONFIRMATION_REPLY_LENGTH);
  writeSendConfirmationReply(new DataView(bytes.buffer), 8, confirmation, confirmation.baseOffset);
  assert.equal(toHex(bytes.subarray(8)), toHex(encodeSendMessagesReply([confirmation])));
  assert.deepEqual(decodeSendMessagesReply(bytes.subarray(8)), [confirmation]);
});
