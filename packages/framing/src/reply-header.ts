import { assert } from "@millrace/errors";
import { COMMON_AT, HEADER_LENGTH, headerViewAt, messageLengthAt, WireCommand } from "./header-kind.ts";
import { REQUEST_AT } from "./request-header.ts";
import { setU64Number, u128At } from "./wide-integer.ts";

/**
 * Places of the reply's own fields; 144..160 (context), 209..216 and 220..256 are written as zero, not
 * verified.
 */
const AT = {
  requestChecksum: 128,
  client: 160,
  op: 176,
  commit: 184,
  timestamp: 192,
  request: 200,
  operation: 208,
  status: 216,
} as const;

/**
 * A reply header. `length` counts header and body; `status` 0 means: look at the body. Timestamps are micros.
 */
export interface ReplyHeader {
  readonly length: number;
  readonly view: number;
  readonly client: bigint;
  readonly op: bigint;
  readonly commit: bigint;
  readonly timestamp: bigint;
  readonly request: bigint;
  readonly operation: number;
  readonly status: number;
  readonly requestChecksum: bigint;
}

/**
 * What a reply says beyond what it echoes. Left out: operation, view and timestamp are echoed, the rest is 0.
 */
export interface ReplyFields {
  readonly bodyLength: number;
  readonly operation?: number;
  readonly status?: number;
  readonly op?: number;
  readonly commit?: number;
  readonly view?: number;
  /** Micros since 1970. */
  readonly timestamp?: number;
}

/**
 * Reads the 256-byte reply header at `position`. Values are not judged, reserved bytes are not looked at.
 * @throws WireError `unexpected_end` when fewer than 256 bytes are there
 */
export function decodeReplyHeader(bytes: Uint8Array, position = 0): ReplyHeader {
  const view = headerViewAt(bytes, position);
  return {
    length: messageLengthAt(view, 0),
    view: view.getUint32(COMMON_AT.view, true),
    client: u128At(view, AT.client),
    op: view.getBigUint64(AT.op, true),
    commit: view.getBigUint64(AT.commit, true),
    timestamp: view.getBigUint64(AT.timestamp, true),
    request: view.getBigUint64(AT.request, true),
    operation: view.getUint8(AT.operation),
    status: view.getUint32(AT.status, true),
    requestChecksum: u128At(view, AT.requestChecksum),
  };
}

/** The status of the reply at `position`, without reading the rest; 0 means: look at the body. */
export function statusAt(view: DataView, position: number): number {
  return view.getUint32(position + AT.status, true);
}

/** The operation byte of the reply at `position`. */
export function replyOperationAt(view: DataView, position: number): number {
  return view.getUint8(position + AT.operation);
}

/**
 * Writes into the first 256 bytes of `target` the reply header that answers `requestHeader` (its 256 raw
 * bytes). `target` and `requestHeader` must not overlap.
 * @throws WireError `unexpected_end` when `requestHeader` is shorter
 */
export function encodeReplyHeader(target: Uint8Array, requestHeader: Uint8Array, fields: ReplyFields): void {
  assert(target.byteLength >= HEADER_LENGTH, "a header's target holds 256 bytes");
  target.fill(0, 0, HEADER_LENGTH);
  writeReplyHeader(headerViewAt(target, 0), headerViewAt(requestHeader, 0), 0, fields);
}

/**
 * As `encodeReplyHeader`, for the path of every request: the target's view is the caller's, its bytes are zero
 * or a reply header that was written by this, and the request's header lies at `position` of `view`.
 *
 * Cluster, release, replica, client, request number and request checksum are echoed by copying words, so this
 * makes no object.
 */
export function writeReplyHeader(
  target: DataView,
  view: DataView,
  position: number,
  fields: ReplyFields,
): void {
  echo(target, view, COMMON_AT.cluster, position + COMMON_AT.cluster, 16);
  echo(target, view, COMMON_AT.view, position + COMMON_AT.view, 8);
  target.setUint8(COMMON_AT.replica, view.getUint8(position + COMMON_AT.replica));
  echo(target, view, AT.requestChecksum, position + REQUEST_AT.requestChecksum, 16);
  echo(target, view, AT.client, position + REQUEST_AT.client, 16);
  echo(target, view, AT.timestamp, position + REQUEST_AT.timestamp, 16);
  target.setUint32(COMMON_AT.length, HEADER_LENGTH + fields.bodyLength, true);
  target.setUint8(COMMON_AT.command, WireCommand.reply);
  if (fields.view !== undefined) target.setUint32(COMMON_AT.view, fields.view, true);
  if (fields.timestamp !== undefined) setU64Number(target, AT.timestamp, fields.timestamp);
  const operation = fields.operation ?? view.getUint8(position + REQUEST_AT.operation);
  target.setUint8(AT.operation, operation);
  setU64Number(target, AT.op, fields.op ?? 0);
  setU64Number(target, AT.commit, fields.commit ?? 0);
  target.setUint32(AT.status, fields.status ?? 0, true);
}

/** Copies header bytes word by word; a call of `set` would need two fresh subarrays. */
function echo(target: DataView, source: DataView, to: number, from: number, length: number): void {
  for (let at = 0; at < length; at += 4) target.setUint32(to + at, source.getUint32(from + at));
}
