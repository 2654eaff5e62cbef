import { assert } from "@millrace/errors";
import {
  COMMON_AT,
  commandAt,
  HEADER_LENGTH,
  headerViewAt,
  messageLengthAt,
  WireCommand,
} from "./header-kind.ts";
import { setU64, setU64Number, setU128, u128At } from "./wide-integer.ts";

/** Places of the request's own fields; 177..184 is padding, 200..256 reserved, neither is verified. */
export const REQUEST_AT = {
  client: 128,
  requestChecksum: 144,
  timestamp: 160,
  request: 168,
  operation: 176,
  session: 184,
  userId: 192,
  code: 196,
} as const;

/**
 * A request header. `length` counts header and body; `requestChecksum` 0 means absent; `code` is for
 * operation 2.
 */
export interface RequestHeader {
  readonly length: number;
  readonly command: number;
  readonly client: bigint;
  readonly requestChecksum: bigint;
  readonly timestamp: bigint;
  readonly request: bigint;
  readonly operation: number;
  readonly session: bigint;
  readonly userId: number;
  readonly code: number;
}

/** What a request cannot do without; every other field is 0 unless given. */
export type RequestHeaderFields = Partial<RequestHeader> &
  Pick<RequestHeader, "length" | "client" | "operation">;

/**
 * Reads the 256-byte request header at `position`. Values are not judged, reserved bytes are not looked at.
 * @throws WireError `unexpected_end` when fewer than 256 bytes are there
 */
export function decodeRequestHeader(bytes: Uint8Array, position = 0): RequestHeader {
  const view = headerViewAt(bytes, position);
  return {
    length: messageLengthAt(view, 0),
    command: commandAt(view, 0),
    client: u128At(view, REQUEST_AT.client),
    requestChecksum: u128At(view, REQUEST_AT.requestChecksum),
    timestamp: view.getBigUint64(REQUEST_AT.timestamp, true),
    request: view.getBigUint64(REQUEST_AT.request, true),
    operation: view.getUint8(REQUEST_AT.operation),
    session: view.getBigUint64(REQUEST_AT.session, true),
    userId: view.getUint32(REQUEST_AT.userId, true),
    code: view.getUint32(REQUEST_AT.code, true),
  };
}

/**
 * Writes a request header into the first 256 bytes of `target`; what is not given, reserved bytes too, is
 * zero.
 */
export function encodeRequestHeader(target: Uint8Array, header: RequestHeaderFields): void {
  assert(target.byteLength >= HEADER_LENGTH, "a header's target holds 256 bytes");
  target.fill(0, 0, HEADER_LENGTH);
  const view = headerViewAt(target, 0);
  view.setUint32(COMMON_AT.length, header.length, true);
  view.setUint8(COMMON_AT.command, header.command ?? WireCommand.request);
  setU128(view, REQUEST_AT.client, header.client);
  setU128(view, REQUEST_AT.requestChecksum, header.requestChecksum ?? 0n);
  setU64(view, REQUEST_AT.timestamp, header.timestamp ?? 0n);
  setU64(view, REQUEST_AT.request, header.request ?? 0n);
  view.setUint8(REQUEST_AT.operation, header.operation);
  setU64(view, REQUEST_AT.session, header.session ?? 0n);
  view.setUint32(REQUEST_AT.userId, header.userId ?? 0, true);
  view.setUint32(REQUEST_AT.code, header.code ?? 0, true);
}

/**
 * Sets what changes from one request of a session to the next in a header that was encoded before: length,
 * header and body, and the request number, below 2^53.
 */
export function renewRequestHeader(
  view: DataView,
  position: number,
  { length, request }: { readonly length: number; readonly request: number },
): void {
  view.setUint32(position + COMMON_AT.length, length, true);
  setU64Number(view, position + REQUEST_AT.request, request);
}

// Readers of one field of the header at `position`, without bigint, for the path of every request. The caller
// has seen that 256 bytes are there. A u64 comes as its low and high half.

/** The operation byte of the request at `position`. */
export function operationAt(view: DataView, position: number): number {
  return view.getUint8(position + REQUEST_AT.operation);
}

/** The command code of the request at `position`; it means something for operation 2 only. */
export function codeAt(view: DataView, position: number): number {
  return view.getUint32(position + REQUEST_AT.code, true);
}

/** Low half of the request number. */
export function requestLowAt(view: DataView, position: number): number {
  return view.getUint32(position + REQUEST_AT.request, true);
}

/** High half of the request number. */
export function requestHighAt(view: DataView, position: number): number {
  return view.getUint32(position + REQUEST_AT.request + 4, true);
}

/** Low half of the session. */
export function sessionLowAt(view: DataView, position: number): number {
  return view.getUint32(position + REQUEST_AT.session, true);
}

/** High half of the session. */
export function sessionHighAt(view: DataView, position: number): number {
  return view.getUint32(position + REQUEST_AT.session + 4, true);
}

/** False for client id 0, which no client may use. */
export function hasClientAt(view: DataView, position: number): boolean {
  return !isZeroU128(view, position + REQUEST_AT.client);
}

/** False when the sender left the checksum of the body out. */
export function hasRequestChecksumAt(view: DataView, position: number): boolean {
  return !isZeroU128(view, position + REQUEST_AT.requestChecksum);
}

function isZeroU128(view: DataView, at: number): boolean {
  const low = view.getUint32(at, true) | view.getUint32(at + 4, true);
  return (low | view.getUint32(at + 8, true) | view.getUint32(at + 12, true)) === 0;
}
