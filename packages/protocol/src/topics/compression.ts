import { type ByteReader, WireError } from "@millrace/framing";

/** Codes of the compression a topic announces; the server never compresses or unpacks anything. */
export const CompressionCode = { none: 1, gzip: 2 } as const;

/** One of the codes. */
export type Compression = (typeof CompressionCode)[keyof typeof CompressionCode];

/** The compression byte of a topic record; throws WireError `unknown_kind` for any other value. */
export function readCompression(reader: ByteReader): Compression {
  const position = reader.position;
  const code = reader.u8();
  if (code === CompressionCode.none || code === CompressionCode.gzip) return code;
  throw new WireError("unknown_kind", position);
}
