import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith, readRecords } from "../body-codec.ts";
import { readByteName, writeByteName } from "../byte-names.ts";

/** Compressions of a snapshot's ZIP, by their byte. */
export const SnapshotCompressionCode = { stored: 1, deflated: 2, bzip2: 3, zstd: 4, lzma: 5, xz: 6 } as const;

/** Parts a snapshot can hold, by their byte. */
export const SnapshotTypeCode = {
  filesystemOverview: 1,
  processList: 2,
  resourceUsage: 3,
  test: 4,
  serverLogs: 5,
  serverConfig: 6,
  all: 100,
} as const;

/** One part of a snapshot. */
export type SnapshotType = keyof typeof SnapshotTypeCode;

/** Asks for a snapshot of the server's surroundings for diagnostics. The reply is the bytes of a ZIP file. */
export interface GetSnapshot {
  readonly compression: keyof typeof SnapshotCompressionCode;
  /** At most 255 entries. */
  readonly types: readonly SnapshotType[];
}

/** Shape: compression u8, count u8, then one u8 per type. */
export function encodeGetSnapshot(body: GetSnapshot): Uint8Array {
  return encodeWith(writeGetSnapshot, body);
}

/** The counterpart of `encodeGetSnapshot`; throws WireError. */
export function decodeGetSnapshot(bytes: Uint8Array): GetSnapshot {
  return decodeWith(readGetSnapshot, bytes);
}

function writeGetSnapshot(writer: ByteWriter, body: GetSnapshot): void {
  writeByteName(writer, SnapshotCompressionCode, body.compression);
  writer.bytes8(Uint8Array.from(body.types, (type) => SnapshotTypeCode[type]));
}

function readGetSnapshot(reader: ByteReader): GetSnapshot {
  const compression = readByteName(reader, SnapshotCompressionCode);
  return { compression, types: readRecords(reader, readSnapshotType, reader.u8()) };
}

function readSnapshotType(reader: ByteReader): SnapshotType {
  return readByteName(reader, SnapshotTypeCode);
}
