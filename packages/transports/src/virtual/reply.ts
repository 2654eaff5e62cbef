import { CodedError, ErrorCode } from "@millrace/errors";
import {
  commandAt,
  decodeEvictionHeader,
  HEADER_LENGTH,
  messageLengthAt,
  replyOperationAt,
  statusAt,
  WireCommand,
} from "@millrace/framing";
import { decodeBody, decodeResultSection, errorCodeOfEviction, hasResultSection } from "@millrace/protocol";

/** What the broker said to one request. */
export interface Outcome {
  /** 0 for success; then `payload` is what stands behind the result section. */
  readonly code: number;
  /** Bytes of its own: nothing borrows from the broker. */
  readonly payload: Uint8Array;
  /** True for an eviction: the connection closes. */
  readonly isLast: boolean;
}

const NO_BYTES = new Uint8Array(0);

/**
 * Takes the replies of one vectored write apart and calls `take` with each. A reply begins with a part that
 * holds its 256-byte header, and perhaps what follows; the parts after it, some of which may be empty, are
 * the rest of its body.
 */
export function eachReply(parts: readonly Uint8Array[], take: (outcome: Outcome) => void): void {
  for (let index = 0; index < parts.length; ) {
    const first = parts[index++] as Uint8Array;
    const view = new DataView(first.buffer, first.byteOffset, first.byteLength);
    const bodyLength = messageLengthAt(view, 0) - HEADER_LENGTH;
    const body = [first.subarray(HEADER_LENGTH)];
    for (let length = first.length - HEADER_LENGTH; length < bodyLength; ) {
      const part = parts[index++];
      if (part === undefined) throw new CodedError(ErrorCode.InvalidCommand, "A reply is not whole.");
      body.push(part);
      length += part.length;
    }
    while (parts[index]?.length === 0) index++;
    const isEviction = commandAt(view, 0) === WireCommand.eviction;
    take(isEviction ? evicted(first) : outcomeOf(view, joined(body, bodyLength)));
  }
}

function evicted(header: Uint8Array): Outcome {
  const eviction = decodeEvictionHeader(header);
  return { code: errorCodeOfEviction(eviction.reason, eviction), payload: NO_BYTES, isLast: true };
}

function outcomeOf(view: DataView, body: Uint8Array): Outcome {
  const status = statusAt(view, 0);
  if (status !== 0) return { code: status, payload: NO_BYTES, isLast: false };
  if (!hasResultSection(replyOperationAt(view, 0))) return { code: 0, payload: body, isLast: false };
  return { ...decodeBody(decodeResultSection, body), isLast: false };
}

/** A copy of the parts in one piece: they are lent only until the write is reported as done. */
function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  if (length === 0) return NO_BYTES;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
