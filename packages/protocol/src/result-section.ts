import { ByteReader, ByteWriter, WireError } from "@millrace/framing";

/** What a reply body with a result section says: 0 and the payload, or an error code and no payload. */
export interface Result {
  readonly code: number;
  /** View of the body behind the section; empty after a rejection. */
  readonly payload: Uint8Array;
}

const COUNT_LENGTH = 4;
const ENTRY_LENGTH = 8;

/**
 * The section of a success: count 0. For replies that are sent in parts, and the whole body when nothing
 * follows.
 */
export const RESULT_SUCCESS: Uint8Array = new Uint8Array(COUNT_LENGTH);

/** A success: the section, then a copy of the payload. */
export function encodeResultSuccess(payload: Uint8Array = new Uint8Array(0)): Uint8Array {
  const body = new Uint8Array(COUNT_LENGTH + payload.length);
  body.set(payload, COUNT_LENGTH);
  return body;
}

/** A rejection: one entry, for event 0, with the error code; 12 bytes. */
export function encodeResultRejection(code: number): Uint8Array {
  return new ByteWriter(COUNT_LENGTH + ENTRY_LENGTH).u32(1).u32(0).u32(code).finish();
}

/**
 * Takes a reply body apart. Of several entries the first with a code other than 0 counts.
 *
 * @throws WireError `unexpected_end` when the body is shorter than the section it announces
 */
export function decodeResultSection(body: Uint8Array): Result {
  const reader = new ByteReader(body);
  const count = reader.u32();
  if (count * ENTRY_LENGTH > reader.remaining) throw new WireError("unexpected_end", reader.position);
  let code = 0;
  for (let index = 0; index < count; index += 1) {
    reader.skip(COUNT_LENGTH);
    const entryCode = reader.u32();
    if (code === 0) code = entryCode;
  }
  return { code, payload: body.subarray(code === 0 ? reader.position : body.length) };
}
