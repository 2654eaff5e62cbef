import { ErrorCode } from "@millrace/errors";
import {
  BATCH_HEADER_LENGTH,
  batchLengthOf,
  encodeBatchHeader,
  FRAME_AT,
  FrameCursor,
  type OutgoingMessage,
  writeBatch,
} from "@millrace/framing";
import {
  decodeBody,
  decodePollMessagesReply,
  encodePollReplyHead,
  PAYLOAD_LENGTH_MAX,
  type Partitioning,
  type SendConfirmation,
} from "@millrace/protocol";
import { errorOfCode } from "../errors/http-error.ts";
import { encodeBase64 } from "../json/base64.ts";
import { Fields, wholeNumber } from "../json/fields.ts";
import { readStoredHeaders, readUserHeaders, userHeadersText } from "./header-json.ts";

const U128_MAX = (1n << 128n) - 1n;
const PARTITION_ID_LENGTH = 4;
/** 32 hexadecimal digits, as they are, behind 0x, or with the dashes of a UUID. */
const HEX_ID = /^(?:0x)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i;

/** What the body of a send says. */
export interface SendBody {
  readonly partitioning: Partitioning;
  readonly messages: readonly OutgoingMessage[];
}

/** Reads the body of a send. @throws HttpError 422 for its shape, or with the code of what a message lacks */
export function readSend(body: unknown): SendBody {
  const fields = Fields.ofBody(body);
  const partitioning = readPartitioning(fields.object("partitioning"));
  const list = fields.list("messages");
  if (list.length === 0) throw errorOfCode(ErrorCode.InvalidMessagesCount, { field: "messages" });
  return { partitioning, messages: list.map(readMessage) };
}

/** JSON text of a poll's reply. */
export function pollText(payload: Uint8Array): string {
  const { partitionId, currentOffset, count, batches } = decodeBody(decodePollMessagesReply, payload);
  const messages: string[] = [];
  for (let position = 0; position < batches.length; ) {
    const cursor = new FrameCursor(batches, position);
    while (cursor.next()) messages.push(messageText(cursor));
    position += cursor.header.batchLength;
  }
  return `{"partition_id":${partitionId},"current_offset":${currentOffset},"count":${count},"messages":[${messages.join(",")}]}`;
}

/** Every number is written with all its digits. */
function messageText(cursor: FrameCursor): string {
  const { header, payload, userHeaders } = cursor;
  const offset = header.baseOffset + cursor.offsetDelta;
  const originTimestamp = header.originTimestamp + cursor.timestampDelta;
  const lengths = `"user_headers_length":${userHeaders.length},"payload_length":${payload.length},"reserved":0`;
  const numbers = `"checksum":${cursor.checksum},"id":${cursor.id},"offset":${offset}`;
  const times = `"timestamp":${header.baseTimestamp},"origin_timestamp":${originTimestamp}`;
  const body = `"payload":"${encodeBase64(payload)}","user_headers":${userHeadersText(userHeaders)}`;
  return `{"header":{${numbers},${times},${lengths}},${body}}`;
}

function readPartitioning(fields: Fields): Partitioning {
  const kind = fields.choice("kind", {
    balanced: "balanced",
    partition_id: "partition",
    messages_key: "key",
  } as const);
  if (kind === "balanced") return { kind };
  if (kind === "partition") return { kind, partitionId: readPartitionId(fields) };
  const key = fields.base64("value");
  if (key.length >= 1 && key.length <= 255) return { kind, key };
  throw errorOfCode(ErrorCode.InvalidKeyValueLength, { field: fields.pathOf("value") });
}

/** Texts of partition ids that were read before: most sends name one of few, and base64 costs two copies. */
const partitionIds = new Map<string, number>();
const PARTITION_IDS_MAX = 256;

function readPartitionId(fields: Fields): number {
  const text = fields.text("value");
  const known = partitionIds.get(text);
  if (known !== undefined) return known;
  const bytes = fields.base64("value");
  if (bytes.length !== PARTITION_ID_LENGTH) fields.fail("value", "A partition id is 4 bytes, little-endian.");
  const partitionId = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (partitionIds.size >= PARTITION_IDS_MAX) partitionIds.clear();
  partitionIds.set(text, partitionId);
  return partitionId;
}

function readMessage(value: unknown, index: number): OutgoingMessage {
  const fields = Fields.of(value, () => `messages[${index}]`);
  const payload = fields.base64("payload");
  if (payload.length === 0 || payload.length > PAYLOAD_LENGTH_MAX) {
    const code = payload.length === 0 ? ErrorCode.EmptyMessagePayload : ErrorCode.TooBigMessagePayload;
    throw errorOfCode(code, { field: fields.pathOf("payload") });
  }
  const userHeaders = readUserHeaders(fields, "user_headers");
  const id = readId(fields);
  return userHeaders === undefined ? { id, payload } : { id, payload, userHeaders };
}

/** A number of up to 128 bits, as number or text, or the hexadecimal digits of one; 0 when it is left out. */
function readId(fields: Fields): bigint {
  const value = fields.raw("id");
  if (value === undefined) return 0n;
  const whole = wholeNumber(value) ?? hexId(value);
  if (whole !== undefined && whole >= 0n && whole <= U128_MAX) return whole;
  return fields.fail("id", "An id is an exact whole number of at most 128 bits, or a UUID.");
}

function hexId(value: unknown): bigint | undefined {
  const digits = typeof value === "string" ? HEX_ID.exec(value) : null;
  return digits === null ? undefined : BigInt(`0x${digits.slice(1).join("")}`);
}

/**
 * The counterpart of `readSend`, made from a sealed batch. Ids go as text: a number may have 64 bits only.
 * @throws WireError for bytes that are no batch
 */
export function sendText(partitioning: Partitioning, batch: Uint8Array): string {
  const messages: string[] = [];
  const cursor = new FrameCursor(batch);
  while (cursor.next()) {
    const content = `"payload":"${encodeBase64(cursor.payload)}"`;
    messages.push(`{"id":"${cursor.id}",${content},"user_headers":${userHeadersText(cursor.userHeaders)}}`);
  }
  const { kind, value } = partitioningJson(partitioning);
  return `{"partitioning":{"kind":"${kind}","value":"${value}"},"messages":[${messages.join(",")}]}`;
}

/** One confirmation of a send. */
export function readConfirmation(fields: Fields): SendConfirmation {
  return {
    streamId: fields.u32("stream_id"),
    topicId: fields.u32("topic_id"),
    partitionId: fields.u32("partition_id"),
    baseOffset: fields.count("base_offset"),
  };
}

/**
 * The counterpart of `pollText`: the payload of a poll's reply. Each message is a batch of its own, for JSON
 * gives each its own offset and times. Frames keep the checksum that the server tells, which is that of the
 * frame as stored; batches have none, so `verifyBatch` refuses them.
 */
export function readPoll(fields: Fields): Uint8Array {
  const partitionId = fields.u32("partition_id");
  const batches = fields.objects("messages").map((message) => readStoredMessage(message, partitionId));
  const head = { partitionId, currentOffset: fields.count("current_offset"), count: batches.length };
  return Buffer.concat([encodePollReplyHead(head), ...batches]);
}

function readStoredMessage(fields: Fields, partitionId: number): Uint8Array {
  const header = fields.object("header");
  const userHeaders = readStoredHeaders(fields, "user_headers");
  const originTimestamp = header.count("origin_timestamp");
  const message = { id: readId(header), payload: fields.base64("payload"), userHeaders };
  const batch = new Uint8Array(batchLengthOf([message]));
  writeBatch(batch, 0, [message], originTimestamp);
  encodeBatchHeader(batch, 0, {
    partitionId,
    baseOffset: header.count("offset"),
    baseTimestamp: header.count("timestamp"),
    originTimestamp,
    batchLength: batch.length,
    batchChecksum: 0n,
    messageCount: 1,
  });
  const view = new DataView(batch.buffer);
  view.setBigUint64(BATCH_HEADER_LENGTH + FRAME_AT.checksum, header.u64("checksum"), true);
  return batch;
}

function partitioningJson(partitioning: Partitioning): { readonly kind: string; readonly value: string } {
  if (partitioning.kind === "balanced") return { kind: "balanced", value: "" };
  if (partitioning.kind === "key") return { kind: "messages_key", value: encodeBase64(partitioning.key) };
  const value = new Uint8Array(PARTITION_ID_LENGTH);
  new DataView(value.buffer).setUint32(0, partitioning.partitionId, true);
  return { kind: "partition_id", value: encodeBase64(value) };
}
