import { WireError } from "./wire-error.ts";

/** Bytes of every message header: request, reply and eviction. */
export const HEADER_LENGTH = 256;

/** Longest message, header included: 64 MiB, what official clients and servers accept by default. */
export const MESSAGE_LENGTH_MAX = 67_108_864;

/**
 * The kinds of message on a client connection, the byte at 60. Other values never reach a client connection.
 */
export const WireCommand = { request: 5, reply: 8, eviction: 13 } as const;

/** Places shared by the three headers; bytes 62..128 are reserved and not verified. */
export const COMMON_AT = {
  cluster: 32,
  length: 48,
  view: 52,
  release: 56,
  command: 60,
  replica: 61,
} as const;

/**
 * Length of the message whose header begins at `position`, header and body, as the u32 at 48 says it.
 * Unchecked.
 */
export function messageLengthAt(view: DataView, position: number): number {
  return view.getUint32(position + COMMON_AT.length, true);
}

/** The command byte of the header at `position`, see `WireCommand`. */
export function commandAt(view: DataView, position: number): number {
  return view.getUint8(position + COMMON_AT.command);
}

/**
 * A view of the 256-byte header at `position`.
 * @throws WireError `unexpected_end` when the bytes end before the header does
 */
export function headerViewAt(bytes: Uint8Array, position: number): DataView {
  if (bytes.byteLength - position < HEADER_LENGTH) throw new WireError("unexpected_end", position);
  return new DataView(bytes.buffer, bytes.byteOffset + position, HEADER_LENGTH);
}
