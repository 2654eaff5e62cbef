import { UsageError } from "../failures/usage-error.ts";

/** Bytes before the payload of a message in a file. */
const HEADER_LENGTH = 64;

/** Places in that header, little-endian; 56..64 is reserved and zero. */
const AT = {
  checksum: 0,
  id: 8,
  offset: 24,
  timestamp: 32,
  originTimestamp: 40,
  userHeadersLength: 48,
  payloadLength: 52,
} as const;

/**
 * A message as a file holds it. Times are micros; `userHeaders` is the block of typed fields as on the wire.
 */
export interface FileMessage {
  readonly checksum: bigint;
  readonly id: bigint;
  readonly offset: bigint;
  readonly timestamp: bigint;
  readonly originTimestamp: bigint;
  readonly payload: Uint8Array;
  readonly userHeaders: Uint8Array;
}

/**
 * Bytes of a message for `--output-file`: the SDKs' 64-byte header, the payload, the user headers.
 *
 * Shape of the header: checksum u64, id u128, offset u64, timestamp u64, origin timestamp u64, user headers
 * length u32, payload length u32, eight zero bytes.
 */
export function encodeFileMessage(message: FileMessage): Uint8Array {
  const { payload, userHeaders } = message;
  const bytes = new Uint8Array(HEADER_LENGTH + payload.length + userHeaders.length);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(AT.checksum, message.checksum, true);
  view.setBigUint64(AT.id, message.id & U64_MASK, true);
  view.setBigUint64(AT.id + 8, message.id >> 64n, true);
  view.setBigUint64(AT.offset, message.offset, true);
  view.setBigUint64(AT.timestamp, message.timestamp, true);
  view.setBigUint64(AT.originTimestamp, message.originTimestamp, true);
  view.setUint32(AT.userHeadersLength, userHeaders.length, true);
  view.setUint32(AT.payloadLength, payload.length, true);
  bytes.set(payload, HEADER_LENGTH);
  bytes.set(userHeaders, HEADER_LENGTH + payload.length);
  return bytes;
}

const U64_MASK = 0xffff_ffff_ffff_ffffn;

/**
 * The messages of a file, one after the other. Payloads and headers are views of `bytes`.
 * @throws UsageError when the file ends inside a message, with the place where that message starts
 */
export function* decodeFileMessages(bytes: Uint8Array): Generator<FileMessage> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let position = 0; position < bytes.length; ) {
    const message = decodeAt(bytes, view, position);
    yield message;
    position += HEADER_LENGTH + message.payload.length + message.userHeaders.length;
  }
}

function decodeAt(bytes: Uint8Array, view: DataView, position: number): FileMessage {
  if (position + HEADER_LENGTH > bytes.length) throw endsInside(position);
  const payloadStart = position + HEADER_LENGTH;
  const payloadEnd = payloadStart + view.getUint32(position + AT.payloadLength, true);
  const end = payloadEnd + view.getUint32(position + AT.userHeadersLength, true);
  if (end > bytes.length) throw endsInside(position);
  return {
    checksum: view.getBigUint64(position + AT.checksum, true),
    id: (view.getBigUint64(position + AT.id + 8, true) << 64n) | view.getBigUint64(position + AT.id, true),
    offset: view.getBigUint64(position + AT.offset, true),
    timestamp: view.getBigUint64(position + AT.timestamp, true),
    originTimestamp: view.getBigUint64(position + AT.originTimestamp, true),
    payload: bytes.subarray(payloadStart, payloadEnd),
    userHeaders: bytes.subarray(payloadEnd, end),
  };
}

function endsInside(position: number): UsageError {
  return new UsageError(
    `The input file ends inside the message at byte ${position}. It must hold messages as --output-file ` +
      "writes them; for lines of text use --lines.",
  );
}
