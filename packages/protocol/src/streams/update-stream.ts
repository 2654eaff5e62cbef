import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";
import { type Identifier, readIdentifier, writeIdentifier } from "../identifier.ts";
import { type OptionEntries, readOptionsToEnd, writeOptionsToEnd } from "../options.ts";

/** Renames a stream; the name is sent even when it stays. The reply has no payload. */
export interface UpdateStream {
  readonly stream: Identifier;
  readonly name: string;
  readonly options: OptionEntries;
}

/** Shape: stream identifier, name, options to the end. */
export function encodeUpdateStream(body: UpdateStream): Uint8Array {
  return encodeWith(writeUpdateStream, body);
}

/** The counterpart of `encodeUpdateStream`; throws WireError. */
export function decodeUpdateStream(bytes: Uint8Array): UpdateStream {
  return decodeWith(readUpdateStream, bytes);
}

function writeUpdateStream(writer: ByteWriter, body: UpdateStream): void {
  writeIdentifier(writer, body.stream);
  writer.name(body.name);
  writeOptionsToEnd(writer, body.options);
}

function readUpdateStream(reader: ByteReader): UpdateStream {
  return { stream: readIdentifier(reader), name: reader.name(), options: readOptionsToEnd(reader) };
}
