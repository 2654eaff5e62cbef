import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";
import { type OptionEntries, readOptionsToEnd, writeOptionsToEnd } from "../options.ts";
import { readStreamDetails, type StreamDetails, writeStreamDetails } from "./stream-record.ts";

/** Creates a stream. No stream options exist in 0.9.0, so any key is refused with 4041. */
export interface CreateStream {
  readonly name: string;
  readonly options: OptionEntries;
}

/** Shape: name, options to the end. */
export function encodeCreateStream(body: CreateStream): Uint8Array {
  return encodeWith(writeCreateStream, body);
}

/** The counterpart of `encodeCreateStream`; throws WireError. */
export function decodeCreateStream(bytes: Uint8Array): CreateStream {
  return decodeWith(readCreateStream, bytes);
}

/** The created stream, without topics. */
export function encodeCreateStreamReply(stream: StreamDetails): Uint8Array {
  return encodeWith(writeStreamDetails, stream);
}

/** The counterpart of `encodeCreateStreamReply`. */
export function decodeCreateStreamReply(payload: Uint8Array): StreamDetails {
  return decodeWith(readStreamDetails, payload);
}

function writeCreateStream(writer: ByteWriter, body: CreateStream): void {
  writer.name(body.name);
  writeOptionsToEnd(writer, body.options);
}

function readCreateStream(reader: ByteReader): CreateStream {
  return { name: reader.name(), options: readOptionsToEnd(reader) };
}
