import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import {
  decodeTypedFields,
  encodeTypedFields,
  FieldKind,
  type FieldKindName,
  type FieldValue,
  fieldValue,
  isWireError,
  type TypedField,
  type TypedFieldPair,
  typedField,
} from "@millrace/framing";
import { USER_HEADERS_LENGTH_MAX } from "@millrace/protocol";

/** A header's value with its kind named, for readers in other languages that expect a certain one. */
export interface TypedValue {
  readonly kind: FieldKindName;
  readonly value: FieldValue;
}

/** A key or value of a header. */
export type HeaderValue = FieldValue | TypedValue;

/**
 * Headers of a message to send; a `Map` allows keys that are not text. Keys and values have 1 to 255 bytes,
 * text without half a surrogate pair; all of them together at most 100 000 bytes, with 5 more for each key
 * and value.
 */
export type MessageHeaders =
  | Readonly<Record<string, HeaderValue>>
  | ReadonlyMap<string | TypedValue, HeaderValue>;

/** Which message it is, for an error about it. */
export interface MessagePlace {
  readonly partitionId: number;
  readonly offset: bigint;
}

const NO_HEADERS = new Uint8Array(0);
const INT32_MAX = 2_147_483_647;
const INT64_MAX = 0x7fff_ffff_ffff_ffffn;
const UINT64_MAX = 0xffff_ffff_ffff_ffffn;

/** The kind that brings a value back as what it was: numbers as number, bigints as bigint. */
function kindOf(value: FieldValue): FieldKindName {
  if (value instanceof Uint8Array) return "raw";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") {
    return Number.isInteger(value) && Math.abs(value) <= INT32_MAX && !Object.is(value, -0)
      ? "int32"
      : "float64";
  }
  if (value >= -INT64_MAX && value <= INT64_MAX) return "int64";
  if (value < 0n) return "int128";
  return value <= UINT64_MAX ? "uint64" : "uint128";
}

const PLAIN_TYPES: ReadonlySet<string> = new Set(["string", "number", "bigint", "boolean"]);

function isPlain(value: HeaderValue): value is FieldValue {
  return PLAIN_TYPES.has(typeof value) || value instanceof Uint8Array;
}

function fieldOf(value: HeaderValue): TypedField {
  if (isPlain(value)) return typedField(kindOf(value), value);
  if (typeof value === "object" && value !== null && Object.hasOwn(FieldKind, value.kind))
    return typedField(value.kind, value.value);
  const kinds = Object.keys(FieldKind).join(", ");
  const message = `A header is text, a number, a bigint, a boolean, bytes, or { kind, value }, of ${kinds}.`;
  throw new CodedError(ErrorCode.InvalidHeaderValue, message);
}

function keyOf(key: string | TypedValue): TypedField {
  try {
    return fieldOf(key);
  } catch (cause) {
    const message = "The key of a header is 1 to 255 bytes, of UTF-8 when it is text.";
    throw new CodedError(ErrorCode.InvalidHeaderKey, message, { cause });
  }
}

/** Says which header it was: a message has many, and the value is not repeated. */
function headerValueOf(key: string | TypedValue, value: HeaderValue): TypedField {
  try {
    return fieldOf(value);
  } catch (error) {
    if (typeof key !== "string" || !isCodedError(error)) throw error;
    const message = `Header ${JSON.stringify(key)}: ${error.message}`;
    throw new CodedError(error.code, message, { cause: error, details: error.details });
  }
}

/**
 * Bytes of a message's headers; none for no headers.
 *
 * Whole numbers within 32 bits become int32, other numbers float64, bigints the shortest of int64, uint64,
 * int128, uint128 that holds them, so that each comes back as what it was.
 *
 * @throws CodedError InvalidHeaderKey, InvalidHeaderValue, TooBigUserHeaders above 100 000 bytes,
 *         InvalidArgument for something else than headers
 */
export function encodeHeaders(headers: MessageHeaders | undefined): Uint8Array {
  if (headers === undefined) return NO_HEADERS;
  if (typeof headers !== "object" || headers === null) {
    throw new CodedError(ErrorCode.InvalidArgument, "The headers of a message are an object or a Map.");
  }
  const entries = headers instanceof Map ? [...headers] : Object.entries(headers);
  const pairs = entries.map(([key, value]): TypedFieldPair => [keyOf(key), headerValueOf(key, value)]);
  const bytes = encodeTypedFields(pairs);
  if (bytes.length <= USER_HEADERS_LENGTH_MAX) return bytes;
  throw new CodedError(
    ErrorCode.TooBigUserHeaders,
    `The headers take ${bytes.length} bytes; at most ${USER_HEADERS_LENGTH_MAX} are allowed.`,
    { details: { length: bytes.length, lengthMax: USER_HEADERS_LENGTH_MAX } },
  );
}

/**
 * Headers of a received message with their kinds, in the order they were written.
 *
 * @throws CodedError CannotReadHeadersPayload with the position: servers store headers without reading them
 */
export function decodeHeaderFields(bytes: Uint8Array, place: MessagePlace): readonly TypedFieldPair[] {
  return readable(place, () => decodeTypedFields(bytes));
}

/**
 * Headers of a received message by key; a key that is not text appears as its text form.
 *
 * @throws CodedError as `decodeHeaderFields`
 */
export function decodeHeaders(bytes: Uint8Array, place: MessagePlace): ReadonlyMap<string, FieldValue> {
  const entryOf = ([key, value]: TypedFieldPair) => [String(fieldValue(key)), fieldValue(value)] as const;
  return readable(place, () => new Map(decodeTypedFields(bytes).map(entryOf)));
}

function readable<T>({ partitionId, offset }: MessagePlace, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!isWireError(cause)) throw cause;
    const message = `The sender of message ${offset} of partition ${partitionId} wrote no valid headers; userHeaders has their bytes.`;
    const details = { partitionId, offset, position: cause.position };
    throw new CodedError(ErrorCode.CannotReadHeadersPayload, message, { cause, details });
  }
}
