import type { ByteReader, ByteWriter } from "@millrace/framing";
import { type Identifier, readIdentifier, writeIdentifier } from "../identifier.ts";

/** Body of every command that names one stream and nothing else. */
export interface StreamTarget {
  readonly stream: Identifier;
}

/** Shape: stream identifier. */
export function writeStreamTarget(writer: ByteWriter, target: StreamTarget): void {
  writeIdentifier(writer, target.stream);
}

/** The counterpart of `writeStreamTarget`. */
export function readStreamTarget(reader: ByteReader): StreamTarget {
  return { stream: readIdentifier(reader) };
}
