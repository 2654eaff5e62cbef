/** Field 1 of `Frame` with a length before it. @see Protocol Buffers encoding, tags */
const FRAME_TAG = (1 << 3) | 2;
const WireType = { varint: 0, fixed64: 1, lengthBefore: 2, fixed32: 5 } as const;

/** A length of up to 64 MiB takes at most four 7-bit groups; five are enough for any 32-bit one. */
const VARINT_LENGTH_MAX = 5;

/** `Frame` as bytes: tag, length, message. The message is copied. */
export function encodeFrame(message: Uint8Array): Buffer {
  const prefixLength = 1 + varintLength(message.length);
  const bytes = Buffer.allocUnsafe(prefixLength + message.length);
  bytes[0] = FRAME_TAG;
  let rest = message.length;
  for (let at = 1; at < prefixLength; at++) {
    bytes[at] = (rest & 127) | (at < prefixLength - 1 ? 128 : 0);
    rest >>>= 7;
  }
  bytes.set(message, prefixLength);
  return bytes;
}

/**
 * The message inside a `Frame`, as a view; empty when there is none. Fields of later versions are skipped.
 *
 * @throws RangeError for bytes that are no protobuf message; the gRPC library answers it
 */
export function decodeFrame(bytes: Uint8Array): Uint8Array {
  let message = bytes.subarray(0, 0);
  let at = 0;
  while (at < bytes.length) {
    const tag = varintAt(bytes, at);
    at = tag.end;
    const field = fieldAt(bytes, at, tag.value & 7);
    at = field.end;
    if (tag.value === FRAME_TAG) message = bytes.subarray(field.start, field.end);
  }
  return message;
}

function fieldAt(bytes: Uint8Array, at: number, wireType: number): { start: number; end: number } {
  switch (wireType) {
    case WireType.varint:
      return within(bytes, at, varintEnd(bytes, at));
    case WireType.fixed64:
      return within(bytes, at, at + 8);
    case WireType.fixed32:
      return within(bytes, at, at + 4);
    case WireType.lengthBefore: {
      const { value, end } = varintAt(bytes, at);
      return within(bytes, end, end + value);
    }
    default:
      throw new RangeError(`A protobuf field has the unknown wire type ${wireType}.`);
  }
}

function within(bytes: Uint8Array, start: number, end: number): { start: number; end: number } {
  if (end > bytes.length) throw new RangeError("A protobuf field runs past its message.");
  return { start, end };
}

function varintAt(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0;
  for (let at = start; at < bytes.length && at < start + VARINT_LENGTH_MAX; at++) {
    const byte = bytes[at]!;
    value += (byte & 127) * 2 ** (7 * (at - start));
    if (byte < 128) return { value, end: at + 1 };
  }
  throw new RangeError("A protobuf number does not end.");
}

/** A number of any size, skipped. */
function varintEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at]! >= 128) at++;
  return at + 1;
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) length++;
  return length;
}
