import { CodedError, ErrorCode } from "@millrace/errors";
import { encodeUtf8, FRAME_HEADER_LENGTH, type OutgoingMessage } from "@millrace/framing";
import {
  MESSAGE_KEY_LENGTH_MAX,
  MESSAGE_KEY_LENGTH_MIN,
  PAYLOAD_LENGTH_MAX,
  PAYLOAD_LENGTH_MIN,
} from "@millrace/protocol";
import { encodeHeaders, type MessageHeaders } from "./message-headers.ts";

/**
 * What a message carries, 1 to 64 000 000 bytes: bytes as they are (lent until acknowledged), text as UTF-8,
 * or a value as JSON. Text with half a surrogate pair is refused; in JSON it travels as an escape.
 */
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

const LONE_SURROGATE = /\p{Surrogate}/u;
const ID_MAX = (1n << 128n) - 1n;
const ORIGIN_TIMESTAMP_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** A number of another type would only show when the batch is written, and take its neighbours along. */
function isWithin(value: bigint, max: bigint): boolean {
  return typeof value === "bigint" && value >= 0n && value <= max;
}

function payloadBytes(payload: Payload): Uint8Array {
  if (payload instanceof Uint8Array) return payload;
  if (typeof payload === "string") return textBytes("The payload", payload);
  if (typeof payload === "object" && payload !== null && "json" in payload) return jsonBytes(payload.json);
  throw invalid("The payload of a message is a Uint8Array, a string, or { json: value }.");
}

/** Half a surrogate pair has no form in UTF-8; encoders write U+FFFD for it without a word. */
function textBytes(what: string, text: string): Uint8Array {
  const bytes = encodeUtf8(text);
  if (bytes !== undefined) return bytes;
  const details = { index: text.search(LONE_SURROGATE) };
  const message = `${what} holds half a surrogate pair at index ${details.index}, which UTF-8 cannot express.`;
  throw new CodedError(ErrorCode.InvalidUtf8, `${message} Cut text between characters, or send bytes.`, {
    details,
  });
}

function jsonBytes(value: unknown): Uint8Array {
  let [text, cause]: [text: string | undefined, cause: unknown] = [undefined, undefined];
  try {
    text = JSON.stringify(value);
  } catch (error) {
    cause = error;
  }
  // JSON writes half a surrogate pair as an escape.
  if (text !== undefined) return textBytes("The payload", text);
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  throw invalid(`The json of a payload is a value that has no form as JSON${why}.`, cause);
}

function invalid(message: string, cause?: unknown): CodedError {
  return new CodedError(ErrorCode.InvalidArgument, message, cause === undefined ? {} : { cause });
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
 * @throws CodedError InvalidKeyValueLength for a key outside 1..=255 bytes, InvalidUtf8 for half a surrogate
 *         pair
 */
export function keyBytes(key: MessageKey): Uint8Array {
  if (typeof key !== "string" && !(key instanceof Uint8Array)) {
    throw invalid("A key is a string or a Uint8Array.");
  }
  const bytes = typeof key === "string" ? textBytes("The key", key) : key;
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
 *         InvalidHeaderValue, InvalidKeyValueLength, InvalidUtf8 for half a surrogate pair, InvalidArgument
 *         for a payload, key, id or time of another type or outside its range
 */
export function prepareMessage(message: Message, nowMicros: number): PreparedMessage {
  if (typeof message !== "object" || message === null)
    throw invalid("A message is an object with a payload.");
  const payload = payloadBytes(message.payload);
  checkPayload(payload);
  const userHeaders = encodeHeaders(message.headers);
  const { id, originTimestamp } = message;
  if (id !== undefined && !isWithin(id, ID_MAX)) {
    throw invalid("The id of a message is a bigint of 128 bits.");
  }
  if (originTimestamp !== undefined && !isWithin(originTimestamp, ORIGIN_TIMESTAMP_MAX)) {
    throw invalid("originTimestamp is a bigint, micros since 1970, below 2^53.");
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
