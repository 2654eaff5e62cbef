import { CodedError, ErrorCode } from "@millrace/errors";
import { FRAME_HEADER_LENGTH, type OutgoingMessage } from "@millrace/framing";
import {
  MESSAGE_KEY_LENGTH_MAX,
  MESSAGE_KEY_LENGTH_MIN,
  PAYLOAD_LENGTH_MAX,
  PAYLOAD_LENGTH_MIN,
} from "@millrace/protocol";
import { encodeHeaders, type MessageHeaders } from "./message-headers.ts";

/** What a message carries: bytes as they are (lent until acknowledged), text as UTF-8, or a value as JSON. */
export type Payload = Uint8Array | string | { readonly json: unknown };

/** A key that places messages: the same key, the same partition, as long as their number stays. */
export type MessageKey = string | Uint8Array;

/** A message to send. */
export interface Message {
  readonly payload: Payload;
  readonly headers?: MessageHeaders;
  /** 128 bits; left out or 0, a random UUID (version 4). */
  readonly id?: bigint;
  /** Micros since 1970; left out, the time of sending. */
  readonly originTimestamp?: bigint;
  /** Places the message by a hash of the key, whatever the producer's partitioning is. */
  readonly key?: MessageKey;
}

/** A checked message, ready to be written into a batch. */
export interface PreparedMessage extends OutgoingMessage {
  /** 0 for one that the batch writer draws. */
  readonly id: bigint;
  /** Empty for none. */
  readonly userHeaders: Uint8Array;
  readonly key: Uint8Array | undefined;
  readonly originTimestamp: number;
  /** Bytes of its frame. */
  readonly frameLength: number;
}

const encoder = new TextEncoder();

function payloadBytes(payload: Payload): Uint8Array {
  if (payload instanceof Uint8Array) return payload;
  if (typeof payload === "string") return encoder.encode(payload);
  const text: string | undefined = JSON.stringify(payload.json);
  return encoder.encode(text ?? "");
}

function checkPayload({ length }: Uint8Array): void {
  if (length < PAYLOAD_LENGTH_MIN) {
    throw new CodedError(ErrorCode.EmptyMessagePayload, "A message needs a payload of at least one byte.");
  }
  if (length > PAYLOAD_LENGTH_MAX) {
    const message = `The payload has ${length} bytes; at most ${PAYLOAD_LENGTH_MAX} are allowed. Split it.`;
    throw new CodedError(ErrorCode.TooBigMessagePayload, message, { details: { length } });
  }
}

/**
 * The bytes of a key.
 *
 * @throws CodedError InvalidKeyValueLength for a key outside 1..=255 bytes
 */
export function keyBytes(key: MessageKey): Uint8Array {
  const bytes = typeof key === "string" ? encoder.encode(key) : key;
  if (bytes.length >= MESSAGE_KEY_LENGTH_MIN && bytes.length <= MESSAGE_KEY_LENGTH_MAX) return bytes;
  const limits = `${MESSAGE_KEY_LENGTH_MIN} to ${MESSAGE_KEY_LENGTH_MAX} bytes`;
  throw new CodedError(ErrorCode.InvalidKeyValueLength, `A key is ${limits}; this one has ${bytes.length}.`);
}

/**
 * Checks a message and turns it into what a batch is written from. A payload of bytes is not copied: it is
 * lent until the message is acknowledged.
 *
 * @param nowMicros  origin time of a message that brings none
 * @throws CodedError EmptyMessagePayload, TooBigMessagePayload, TooBigUserHeaders, InvalidHeaderKey,
 *         InvalidHeaderValue, InvalidKeyValueLength, InvalidArgument for an id or time outside its range
 */
export function prepareMessage(message: Message, nowMicros: number): PreparedMessage {
  const payload = payloadBytes(message.payload);
  checkPayload(payload);
  const userHeaders = encodeHeaders(message.headers);
  const { id, originTimestamp } = message;
  if (id !== undefined && (id < 0n || id >= 1n << 128n)) {
    throw new CodedError(ErrorCode.InvalidArgument, "The id of a message is a number of 128 bits.");
  }
  if (originTimestamp !== undefined && (originTimestamp < 0n || originTimestamp > Number.MAX_SAFE_INTEGER)) {
    throw new CodedError(ErrorCode.InvalidArgument, "originTimestamp is micros since 1970, below 2^53.");
  }
  return {
    id: id ?? 0n,
    payload,
    userHeaders,
    key: message.key === undefined ? undefined : keyBytes(message.key),
    originTimestamp: originTimestamp === undefined ? nowMicros : Number(originTimestamp),
    frameLength: FRAME_HEADER_LENGTH + payload.length + userHeaders.length,
  };
}
