import { CodedError, ErrorCode } from "@millrace/errors";
import { HEADER_LENGTH, messageLengthAt } from "@millrace/framing";

/** Where the length of a message lies in its header. */
const LENGTH_END = 52;

/**
 * Cuts the parts of one send into whole messages, each in one piece; several parts of a message are copied
 * together, a message that is one part is passed on as it is.
 *
 * Bytes that announce no good length, or more than there are, come out as one message: the peer refuses it.
 */
export function wholeMessages(parts: readonly Uint8Array[]): Uint8Array[] {
  const filled = parts.filter((part) => part.length > 0);
  const first = filled[0];
  if (first === undefined) return [];
  if (filled.length === 1 && announcedLength(first) === first.length) return [first];
  if (filled.length === 2 && announcedLength(first) === first.length + filled[1]!.length) {
    return [joined(filled)];
  }
  return cut(joined(filled));
}

/**
 * Why a message that came whole cannot be taken: too short for a header, longer than allowed, or of another
 * length than its header says. Undefined when it is good.
 */
export function lengthFault(message: Uint8Array, messageLengthMax: number): CodedError | undefined {
  const announced = announcedLength(message) ?? 0;
  if (announced === message.length && announced >= HEADER_LENGTH && announced <= messageLengthMax) {
    return undefined;
  }
  const isLong = Math.max(announced, message.length) > messageLengthMax && announced >= HEADER_LENGTH;
  const text = `A message of ${message.length} bytes announces ${announced}; ${HEADER_LENGTH} to ${messageLengthMax} are allowed, both alike.`;
  return new CodedError(isLong ? ErrorCode.FrameTooLarge : ErrorCode.InvalidCommand, text, {
    details: { length: message.length, announced, messageLengthMin: HEADER_LENGTH, messageLengthMax },
  });
}

function announcedLength(bytes: Uint8Array): number | undefined {
  if (bytes.length < LENGTH_END) return undefined;
  return messageLengthAt(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0);
}

function cut(bytes: Uint8Array): Uint8Array[] {
  const messages: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length) {
    const announced = announcedLength(bytes.subarray(at)) ?? 0;
    const isWhole = announced >= HEADER_LENGTH && announced <= bytes.length - at;
    const end = isWhole ? at + announced : bytes.length;
    messages.push(bytes.subarray(at, end));
    at = end;
  }
  return messages;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
