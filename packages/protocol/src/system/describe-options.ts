import type { ByteReader, ByteWriter, TypedField } from "@millrace/framing";
import { decodeWith, encodeWith, readRecords } from "../body-codec.ts";
import { readByteName, writeByteName } from "../byte-names.ts";

/** What a catalog of options is for, by its byte. */
export const OptionScopeCode = { topic: 1, stream: 2, user: 3 } as const;

/** One of the catalogs. Those of streams and users are empty in 0.9.0. */
export type OptionScope = keyof typeof OptionScopeCode;

/** Asks for the catalog of options of a scope. */
export interface DescribeOptions {
  readonly scope: OptionScope;
}

/** One option of a catalog, with its canonical kind and its default. */
export interface OptionDescription {
  readonly key: string;
  /** The canonical kind and the default's bytes, not checked against it. */
  readonly defaultValue: TypedField;
  readonly description: string;
}

/** Shape: scope u8. */
export function encodeDescribeOptions(body: DescribeOptions): Uint8Array {
  return encodeWith(writeDescribeOptions, body);
}

/** The counterpart of `encodeDescribeOptions`; throws WireError `unknown_kind` for another scope. */
export function decodeDescribeOptions(bytes: Uint8Array): DescribeOptions {
  return decodeWith(readDescribeOptions, bytes);
}

/** Shape: count u32, then key, kind u8, default (u32 length) and description (u32 length) for each. */
export function encodeDescribeOptionsReply(options: readonly OptionDescription[]): Uint8Array {
  return encodeWith(writeDescriptions, options);
}

/** The counterpart of `encodeDescribeOptionsReply`. Defaults are views of `payload`. */
export function decodeDescribeOptionsReply(payload: Uint8Array): readonly OptionDescription[] {
  return decodeWith(readDescriptions, payload);
}

function writeDescribeOptions(writer: ByteWriter, body: DescribeOptions): void {
  writeByteName(writer, OptionScopeCode, body.scope);
}

function readDescribeOptions(reader: ByteReader): DescribeOptions {
  return { scope: readByteName(reader, OptionScopeCode) };
}

function writeDescriptions(writer: ByteWriter, options: readonly OptionDescription[]): void {
  writer.u32(options.length);
  for (const { key, defaultValue, description } of options) {
    writer.name(key).u8(defaultValue.kind).bytes32(defaultValue.bytes).str32(description);
  }
}

function readDescriptions(reader: ByteReader): OptionDescription[] {
  return readRecords(reader, readDescription, reader.u32());
}

function readDescription(reader: ByteReader): OptionDescription {
  return {
    key: reader.name(),
    defaultValue: { kind: reader.u8(), bytes: reader.bytes32() },
    description: reader.str32(),
  };
}
